-- The dedup: a claim holds until it expires, whoever asks meanwhile is a duplicate.

create function opsctl_state.claim(p_key text, p_ttl_ms bigint, p_now bigint default opsctl_state.now_ms())
returns table (outcome text, token uuid, claimed_at bigint, value text)
language plpgsql rows 1
set search_path = '' set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_row opsctl_state.dedup;
begin
  loop
    insert into opsctl_state.dedup as d (key, token, claimed_at, ttl_ms, expires_at)
    values (p_key, gen_random_uuid(), p_now, p_ttl_ms, p_now + p_ttl_ms)
    on conflict (key) do update
      set token = excluded.token, claimed_at = excluded.claimed_at, ttl_ms = excluded.ttl_ms,
          expires_at = excluded.expires_at, value = null
      where d.expires_at <= p_now
    returning d.* into v_row;
    if found then
      return query select 'first', v_row.token, v_row.claimed_at, null::text;
      return;
    end if;
    -- An end further away than its whole time: the clock was set back.
    update opsctl_state.dedup as d set expires_at = p_now + d.ttl_ms
    where d.key = p_key and d.expires_at > p_now + d.ttl_ms;
    select d.* into v_row from opsctl_state.dedup as d where d.key = p_key;
    if found then
      return query select 'duplicate', null::uuid, v_row.claimed_at, v_row.value;
      return;
    end if;
    -- Released between the two statements: it is free again.
  end loop;
end $$;

create function opsctl_state.confirm(
  p_key text, p_token text, p_ttl_ms bigint, p_value text, p_now bigint default opsctl_state.now_ms())
returns boolean
language plpgsql
set search_path = '' set enable_seqscan = off
as $$
begin
  update opsctl_state.dedup as d
  set ttl_ms = coalesce(p_ttl_ms, d.ttl_ms), expires_at = coalesce(p_now + p_ttl_ms, d.expires_at),
      value = coalesce(p_value, d.value)
  where d.key = p_key and d.token::text = p_token and d.expires_at > p_now;
  return found;
end $$;

create function opsctl_state.release(
  p_key text, p_token text, p_now bigint default opsctl_state.now_ms())
returns boolean
language plpgsql
set search_path = '' set enable_seqscan = off
as $$
begin
  delete from opsctl_state.dedup as d
  where d.key = p_key and d.token::text = p_token and d.expires_at > p_now;
  return found;
end $$;

create function opsctl_state.prune_dedup()
returns bigint
language plpgsql
set search_path = '' set enable_seqscan = off
as $$
declare
  v_now   constant bigint := opsctl_state.now_ms();
  v_count bigint;
begin
  delete from opsctl_state.dedup as d where d.expires_at <= v_now;
  get diagnostics v_count = row_count;
  return v_count;
end $$;
