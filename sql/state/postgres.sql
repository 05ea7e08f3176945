-- The webhook's state in PostgreSQL, for several hosts. Applied by the service itself, with the tables of schema.sql.

do $$ begin
  -- Even "if not exists" asks for the right to create one.
  if to_regnamespace('opsctl_state') is null then create schema opsctl_state; end if;
end $$;
comment on schema opsctl_state is 'The state of opsctl webhook serve; its owner alone uses it.';

-- The store's clock, in milliseconds; tests put another in its place.
create function opsctl_state.now_ms() returns bigint language sql stable
return floor(extract(epoch from statement_timestamp()) * 1000)::bigint;

{tables}
-- Statistics are made while few rows wait; a minute later all may: plans must not rely on there being none.
alter table opsctl_state.outbox alter column state set statistics 0;

-- Hosted platforms grant what is new to roles of theirs: take that back.
do $$ declare v_role text; begin
  for v_role in
    select distinct case a.grantee when 0 then 'public' else a.grantee::regrole::text end from (
      select nspowner as owner, nspacl as acl from pg_namespace where nspname = 'opsctl_state' union all
      select relowner, relacl from pg_class where relnamespace = 'opsctl_state'::regnamespace union all
      select proowner, coalesce(proacl, acldefault('f', proowner)) from pg_proc
      where pronamespace = 'opsctl_state'::regnamespace) as o, aclexplode(o.acl) as a where a.grantee <> o.owner
  loop
    execute format('revoke all on schema opsctl_state from %s', v_role);
    execute format('revoke all on all tables in schema opsctl_state from %s', v_role);
    execute format('revoke all on all functions in schema opsctl_state from %s', v_role);
  end loop;
end $$;
