-- Nobody but the owner uses any of it. Hosted platforms grant what is new to roles of theirs: take that back.

do $$
declare
  v_grant record;
begin
  for v_grant in
    select distinct 'schema opsctl_state' as object, a.grantee
    from pg_namespace as n, aclexplode(n.nspacl) as a
    where n.nspname = 'opsctl_state' and a.grantee <> n.nspowner
    union
    select 'all tables in schema opsctl_state', a.grantee
    from pg_class as c, aclexplode(c.relacl) as a
    where c.relnamespace = 'opsctl_state'::regnamespace and c.relkind = 'r' and a.grantee <> c.relowner
    union
    select 'all sequences in schema opsctl_state', a.grantee
    from pg_class as c, aclexplode(c.relacl) as a
    where c.relnamespace = 'opsctl_state'::regnamespace and c.relkind = 'S' and a.grantee <> c.relowner
    union
    select 'all functions in schema opsctl_state', a.grantee
    from pg_proc as p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
    where p.pronamespace = 'opsctl_state'::regnamespace and a.grantee <> p.proowner
  loop
    execute format('revoke all on %s from %s', v_grant.object,
                   case v_grant.grantee when 0 then 'public' else v_grant.grantee::regrole::text end);
  end loop;
end $$;
