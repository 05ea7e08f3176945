/**
 * Makes the record of applied migrations where it is missing; only the migrating login may change it.
 *
 * Runs inside the first migration's transaction, so that no one sees the table before its privileges are revoked.
 */
export const RECORD_TABLE = `
do $$ begin
  if to_regclass('public.opsctl_migrations') is not null then return; end if;
  create table public.opsctl_migrations (
    version    integer primary key,
    name       text not null unique,
    checksum   text not null check (checksum ~ '^[0-9a-f]{64}$'),
    applied_at timestamptz not null default now()
  );
  comment on table public.opsctl_migrations is 'The SQL files that opsctl migrate applied, with the checksum of their text.';
  revoke all on table public.opsctl_migrations from public, anon, authenticated, service_role;
  grant select on table public.opsctl_migrations to service_role;
  alter table public.opsctl_migrations enable row level security;
  create policy opsctl_migrations_service_reads on public.opsctl_migrations for select to service_role using (true);
end $$;`;
