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

-- The service of cloud tills has a role of its own, if the set-up has made it. It can read, give commands, and withdraw
-- those that were never offered.
do $$ begin
  if exists (select from pg_roles where rolname = 'pos-fleet-tills') then
    grant insert on command, cloud_sale, cloud_command to "pos-fleet-tills";
    grant update (code, text, is_final, result_at) on command to "pos-fleet-tills";
    grant update on cloud_sale to "pos-fleet-tills";
  end if;
end $$;
