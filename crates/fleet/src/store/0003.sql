-- The tokens of cloud tills. Only the digests of their secrets are here.
create table cloud_token (
  -- The first part of the token, which is no secret.
  token text primary key,
  -- SHA-256 of the secret.
  digest bytea not null,
  till text not null,
  terminals text[] not null,
  by text not null,
  made timestamptz not null,
  revoked timestamptz,
  revoked_by text
);

-- The references of cloud tills. A reference has one row, and one command at a time that may act.
create table cloud_sale (
  till text,
  terminal text,
  reference text,
  -- SHA-256 of what two requests have in common that mean the same transaction.
  content bytea not null,
  -- Kind, amount and currency, as the till asked.
  asked jsonb not null,
  -- The time of the last try.
  begun timestamptz not null,
  command text references command (id),
  -- The till cancelled it before the terminal heard of it. It then never begins.
  cancelled timestamptz,
  primary key (till, terminal, reference)
);
create index on cloud_sale (till, terminal, begun desc);

-- The commands about transactions of cloud tills: cancel and confirm.
create table cloud_command (
  command text primary key references command (id),
  till text not null,
  terminal text not null,
  reference text not null,
  kind text not null,
  body jsonb not null,
  given timestamptz not null
);
create index on cloud_command (till, terminal, reference);

-- The roll-outs of settings. What a roll-out does follows from its steps and from the reports of its terminals.
create table rollout (
  id bigint generated always as identity primary key,
  settings jsonb not null,
  over_local text[] not null,
  -- The seconds for which a wave is watched before the next one begins, and whether that contains a close of day.
  soak_s bigint not null,
  with_close boolean not null,
  -- The wave that has begun last: 0 is the pilot, -1 is none.
  wave int not null default -1,
  -- running, stopped or done.
  state text not null default 'running',
  -- What the desk waits for, or why it has stopped.
  reason text not null default '',
  -- What a person has seen and let pass: terminals that went back, and rises up to this wave.
  forgiven int not null default 0,
  forgiven_wave int not null default -1,
  started timestamptz not null
);

-- Who did what to a roll-out. The desk acts too: it begins waves, and stops.
create table rollout_act (
  rollout bigint not null references rollout (id),
  at timestamptz not null,
  by text not null,
  act text not null,
  text text not null default ''
);
create index on rollout_act (rollout, at);

-- The signed document of each terminal of a roll-out. It goes into `settings` when its wave begins, and not before.
create table rollout_document (
  rollout bigint not null references rollout (id),
  terminal text not null,
  wave int not null,
  version bigint not null,
  envelope bytea not null,
  author text not null,
  released timestamptz,
  -- When the terminal first reported that it keeps this version, or that it went back or refuses it, and why.
  kept timestamptz,
  failed timestamptz,
  failure text,
  -- The codes of the terminal's faults at the release.
  faults text[],
  primary key (rollout, terminal)
);
create index on rollout_document (terminal, version desc);

-- The service of cloud tills has a role of its own, if the set-up has made it. It can read, give commands, and withdraw
-- those that were never offered.
do $$ begin
  if exists (select from pg_roles where rolname = 'pos-fleet-tills') then
    grant insert on command, cloud_sale, cloud_command to "pos-fleet-tills";
    grant update (code, text, is_final, result_at) on command to "pos-fleet-tills";
    grant update on cloud_sale to "pos-fleet-tills";
  end if;
end $$;
