-- The entries of all journals. An entry never changes: another hash for the same key goes into `conflict`.
create table entry (
  terminal text not null,
  journal text not null,
  number bigint not null,
  -- The first entry of a range that the shop has removed; otherwise the number.
  first bigint not null,
  digest bytea not null,
  -- Absent where the terminal sent number and hash alone.
  kind text,
  at timestamptz,
  body jsonb,
  received timestamptz not null default now(),
  primary key (terminal, journal, number)
);

-- The last entry up to which every one is stored.
create table terminal_cursor (
  terminal text not null,
  journal text not null,
  number bigint not null default 0,
  -- True if later entries are stored, so one before them is missing.
  gap boolean not null default false,
  -- A terminal has one journal at a time: that of its last message.
  moved timestamptz not null default now(),
  primary key (terminal, journal)
);

-- Two histories: another hash for an entry that is stored. A person must look at the terminal.
create table conflict (
  terminal text not null,
  journal text not null,
  number bigint not null,
  digest bytea not null,
  body jsonb,
  received timestamptz not null default now(),
  primary key (terminal, journal, number, digest)
);

create table terminal (
  terminal text primary key,
  online boolean not null default false,
  state jsonb,
  info jsonb,
  metrics jsonb,
  -- The times at which these arrived.
  seen timestamptz,
  metrics_at timestamptz,
  -- The start of the uplink, and the one before. If the one before comes back, two terminals have one identity.
  boot text,
  boot_before text,
  two_identities timestamptz
);

-- What the pages read. Texts come from terminals, so an index takes their first characters only: a longer one would
-- exceed the index, and the entry could not be stored. For the same reason no index casts a text to a number.

-- The steps of a terminal by time: its day, and its last transactions.
create index entry_steps on entry (terminal, at desc nulls last) where kind = 'step';

-- The steps of a transaction, to find the last one.
create index entry_transactions on entry (terminal, journal, left(body ->> 'number', 20), number) where kind = 'step';

-- The steps after which the outcome is not known. They are few.
create index entry_open on entry (received desc)
  where kind = 'step' and body -> 'facts' ->> 'standing' in ('unconfirmed', 'needs-a-person');

-- The closes of day.
create index entry_closes on entry (at desc nulls last, terminal)
  where kind = 'mark' and body -> 'what' ->> 'is' = 'close';

-- The certificates of the terminals. The CA signs no other for a terminal.
create table certificate (
  -- The serial number, in hexadecimal.
  serial text primary key,
  terminal text not null,
  -- SHA-256 of the public key: a terminal that asks again with its key gets the same certificate.
  key bytea not null,
  pem text not null,
  not_after timestamptz not null,
  issued timestamptz not null,
  revoked timestamptz
);
create index on certificate (terminal, issued);

-- The codes with which a terminal gets its first certificate. Only their digests are here.
create table enrolment_code (
  digest bytea primary key,
  terminal text not null,
  created timestamptz not null,
  expires timestamptz not null,
  used timestamptz,
  -- The certificate that the code has given.
  serial text references certificate (serial)
);
create index on enrolment_code (terminal);

-- A person has looked at the alarms of a terminal. An alarm stays stored: it only counts as new if it is newer than the
-- last look.
create table alarm_seen (
  terminal text not null,
  -- conflict, two-identities or cloned.
  kind text not null,
  at timestamptz not null default now(),
  by text not null
);
create index on alarm_seen (terminal, kind, at desc);

-- The terminals of a journal: several are a cloned one.
create index on terminal_cursor (journal);
