-- Signed commands, as they are offered to the terminals. Nothing here can sign one.
create table command (
  id text primary key,
  terminal text not null,
  -- The signing key: SHA-256 of its public bytes, in hexadecimal.
  key text not null,
  counter bigint not null,
  kind text not null,
  -- The JSON bytes of the envelope.
  envelope bytea not null,
  -- SHA-256 of the document.
  digest bytea not null,
  author text not null,
  -- Of a cloud till's command: the till, and its reference.
  till text,
  reference text,
  created timestamptz not null default now(),
  expires timestamptz not null,
  -- The time of the last offer.
  offered timestamptz,
  -- The last result. A final one never changes.
  code text,
  text text,
  body jsonb,
  is_final boolean not null default false,
  result_at timestamptz,
  unique (key, terminal, counter)
);
create index on command (terminal) where not is_final;
create index on command (terminal, created desc);

-- The parts of a support archive, in the order of their arrival.
create table archive_part (
  command text references command (id),
  number int,
  of int not null,
  bytes bytea not null,
  primary key (command, number)
);

-- The settings that the fleet gives to its terminals, signed. The greatest version counts.
create table settings (
  terminal text,
  version bigint,
  envelope bytea not null,
  author text not null,
  created timestamptz not null default now(),
  primary key (terminal, version)
);

-- The command keys that the fleet gives to its terminals, signed twice. The greatest version counts.
create table keys_document (
  terminal text,
  version bigint,
  envelope bytea not null,
  author text not null,
  created timestamptz not null default now(),
  primary key (terminal, version)
);

-- What each terminal reports about its settings and keys, after its signature was verified.
create table reported (
  terminal text primary key,
  report jsonb not null,
  at timestamptz not null default now()
);
