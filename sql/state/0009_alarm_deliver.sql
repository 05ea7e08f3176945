-- Delivering: whose turn it is, what one message may tell together, how attempts begin and end.
-- Statistics can be as old as the first alert, and plans go by them: what waits is asked for by columns that only one
-- index has, in its order. A row is read by its id alone, and judged afterwards: asked for by its state, too, any index of
-- such rows will do. Who still waits has no settled_at, of which no index knows. So one plan is good for every call, and each
-- connection makes it once: made anew for each call, it was up to two thirds of that.

-- The rows that may be tried now, in no order, and among them the first p_limit; p_begun: also those that have a text
-- already. Of the rows that were tried and may be again, which have to be sorted, 256 of each priority are looked at, those
-- that have been due for longest: at the usual pace there are fewer. Stable: it sees what the statement sees that asks.
create function opsctl_state.ready(p_kind text, p_limit bigint, p_except bigint[], p_begun boolean, p_now bigint)
returns table (id bigint, priority smallint)
language plpgsql stable rows 100
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_most  constant bigint := greatest(256, p_limit);
  -- The longest pause between two attempts: rows further ahead are there only when the clock was set back.
  v_never constant bigint := p_now + 300000;
begin
  return query
    select h.id, h.priority
    from opsctl_state.outbox as h
    -- A row whose text tells others does not wait for older ones, which another such text may tell.
    where h.kind = p_kind and (h.is_head or h.has_members) and h.settled_at is null and not h.is_blocked
      and h.digest is null and h.due_at <= h.waits_from
      and (p_begun or h.text is null) and h.id <> all (p_except)
    order by h.priority, h.id limit p_limit;
  for v_priority in 0..3
  loop
    return query
      select a.id, v_priority::smallint
      from (
        (select h.id from opsctl_state.outbox as h
         where h.kind = p_kind and h.priority = v_priority and (h.is_head or h.has_members) and h.settled_at is null
           and not h.is_blocked and h.digest is null and h.due_at > h.waits_from and h.due_at <= p_now
           and (p_begun or h.text is null) and h.id <> all (p_except)
         order by h.due_at limit v_most)
        union all
        (select h.id from opsctl_state.outbox as h
         where h.kind = p_kind and h.priority = v_priority and (h.is_head or h.has_members) and h.settled_at is null
           and not h.is_blocked and h.digest is null and h.due_at > h.waits_from and h.due_at > v_never
           and (p_begun or h.text is null) and h.id <> all (p_except)
         order by h.due_at limit v_most)) as a
      order by a.id limit p_limit;
  end loop;
end $$;

-- Whose turn it is; p_begun: also those that have a text already.
create function opsctl_state.due_rows(
  p_kind text, p_limit bigint, p_except json, p_issue_grace_ms bigint, p_begun boolean default true)
returns table (id bigint, alert text, attempts integer, waited_ms bigint, tried_ms bigint, is_repeat boolean,
               claimed_at bigint, issue_url text, text text, is_unsettled boolean, unclear integer,
               first_begun_at bigint, unanswered_for_ms bigint, members text)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_now    constant bigint := opsctl_state.now_ms();
  v_except constant bigint[] := array(select e.value::bigint from json_array_elements_text(p_except) as e(value));
  -- Of issues that wait for their messages no more are looked at.
  v_more   constant bigint := case p_kind when 'issue' then 64 else 0 end;
begin
  return query
    select o.id, o.alert, o.attempts + o.is_unsettled::int, greatest(0, v_now - o.accepted_at), o.tried_ms, o.is_repeat,
           o.claimed_at, opsctl_state.issue_url(o.issue_key, o.issue_row, v_now), o.text, o.is_unsettled,
           o.unclear + o.is_unsettled::int, o.first_begun_at,
           case when o.unanswered_at is not null then greatest(0, v_now - o.unanswered_at) end,
           case when o.has_members then array_to_json(opsctl_state.member_ids(o.id))::text end
    from (
      select r.priority, r.id from opsctl_state.ready(p_kind, p_limit + v_more, v_except, p_begun, v_now) as r
      order by r.priority, r.id limit p_limit + v_more) as r
    cross join lateral (select h.* from opsctl_state.outbox as h where h.id = r.id limit 1) as o
    where o.message_row is null or v_now - o.age_from >= p_issue_grace_ms or o.age_from > v_now
       -- Of "not exists" a plan can make a table of all that wait.
       or (select m.settled_at is null and m.attempts = 0 from opsctl_state.outbox as m
           where m.id = o.message_row) is not true
    order by r.priority, r.id
    limit p_limit;
end $$;

-- The link of an issue, of that of a row or of the one that its fingerprint has now.
create function opsctl_state.issue_url(p_key text, p_issue bigint, p_now bigint)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_url text;
begin
  if p_issue is not null then
    select o.url into v_url from opsctl_state.outbox as o where o.id = p_issue;
  else
    select case when d.expires_at > p_now then d.value end into v_url
    from opsctl_state.dedup as d where d.key = p_key;
  end if;
  return v_url;
end $$;

-- The other rows that a row's text tells.
create function opsctl_state.member_ids(p_row bigint)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return array(select o.id from opsctl_state.outbox as o where o.digest = p_row);
end $$;

-- Whose turn it is, for hosts of before: nothing that has a text already, which they could not send.
create or replace function opsctl_state.due(p_kind text, p_limit bigint, p_except json, p_issue_grace_ms bigint)
returns table (id bigint, alert text, attempts integer, age_ms bigint, claimed_at bigint, issue_url text)
language sql rows 10
set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
  select d.id, d.alert, d.attempts, greatest(0, opsctl_state.now_ms() - o.age_from), d.claimed_at, d.issue_url
  from opsctl_state.due_rows(p_kind, p_limit, p_except, p_issue_grace_ms, false) as d
  cross join lateral (select h.age_from from opsctl_state.outbox as h where h.id = d.id limit 1) as o
$$;

-- The messages of a fingerprint that wait, oldest first, at most p_limit; none of them when one is critical, was begun, is
-- in another text, or is in p_except.
create function opsctl_state.digestible_of(p_key text, p_except bigint[], p_limit bigint)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  v_ids   bigint[];
  v_plain boolean;
begin
  select array_agg(w.id order by w.id), bool_and(w.is_plain) into v_ids, v_plain
  from (
    select o.id, o.priority > 0 and o.text is null and o.digest is null
                 and o.id <> all (p_except) as is_plain
    from opsctl_state.outbox as o
    where o.kind = 'message' and o.issue_key = p_key and o.state = 'queued'
    order by o.id + 0 limit p_limit) as w;
  return case when v_plain then v_ids else '{}' end;
end $$;

-- The messages that one message may tell together: at most p_fingerprints of them, and none more after p_rows rows.
-- Looks at no more than a thousand fingerprints, none of which waits for its next attempt.
create function opsctl_state.digestible(p_except json, p_fingerprints bigint, p_rows bigint)
returns table (id bigint, alert text, waited_ms bigint, is_repeat boolean, issue_url text)
language plpgsql rows 40
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_now    constant bigint := opsctl_state.now_ms();
  v_except constant bigint[] := array(select e.value::bigint from json_array_elements_text(p_except) as e(value));
  v_head   record;
  v_ids    bigint[];
  v_count  bigint := 0;
  v_rows   bigint := 0;
begin
  for v_head in
    select o.issue_key from opsctl_state.outbox as o
    where o.kind = 'message' and o.priority > 0 and o.is_head and o.settled_at is null and not o.is_blocked
      and o.digest is null and o.due_at <= o.waits_from
    order by o.priority, o.id limit 1000
  loop
    exit when v_count >= p_fingerprints or v_rows >= p_rows;
    v_ids := opsctl_state.digestible_of(v_head.issue_key, v_except, p_rows);
    continue when cardinality(v_ids) = 0 or (v_count > 0 and v_rows + cardinality(v_ids) > p_rows);
    v_count := v_count + 1;
    v_rows := v_rows + cardinality(v_ids);
    return query
      select o.id, o.alert, greatest(0, v_now - o.accepted_at), o.is_repeat,
             opsctl_state.issue_url(o.issue_key, null, v_now)
      from unnest(v_ids) with ordinality as i(id, at)
      cross join lateral (select m.* from opsctl_state.outbox as m where m.id = i.id) as o
      order by i.at;
  end loop;
end $$;

-- The other rows whose alerts a row tells, with what their text needs.
create function opsctl_state.members_of(p_row bigint)
returns table (id bigint, alert text, waited_ms bigint, is_repeat boolean, issue_url text)
language plpgsql rows 40
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_now constant bigint := opsctl_state.now_ms();
begin
  return query
    select o.id, o.alert, greatest(0, v_now - o.accepted_at), o.is_repeat,
           opsctl_state.issue_url(o.issue_key, null, v_now)
    from opsctl_state.outbox as o
    where o.digest = p_row and o.settled_at is null
    order by o.id;
end $$;

-- Puts the members into the text of a row; false, with nothing changed, when one of them may not be in it.
create function opsctl_state.enlist(p_row opsctl_state.outbox, p_members bigint[])
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_free bigint;
  v_ids  bigint[] := array(select distinct m from unnest(p_members) as m);
begin
  -- A host that begins one of them alone does so without the lock of the totals.
  perform from opsctl_state.outbox as o where o.id = any (v_ids) order by o.id for update;
  select count(*) into v_free from opsctl_state.outbox as o
  where o.id = any (v_ids) and o.id <> p_row.id and o.kind = p_row.kind and o.settled_at is null
    and o.text is null and o.digest is null and not o.has_members;
  if p_row.kind <> 'message' or v_free < cardinality(v_ids) then
    return false;
  end if;
  update opsctl_state.totals as t
  set waiting_messages = t.waiting_messages - (
    select count(*) from opsctl_state.outbox as o where o.id = any (v_ids) and o.priority > 0);
  update opsctl_state.outbox as o set digest = p_row.id where o.id = any (v_ids);
  return true;
end $$;

-- Records that an attempt begins; null for p_text means that the row keeps the one that it has. While no copy of that one
-- can exist, another may take its place, told of the same rows; then first_begun_at is that of the new one. Asked again
-- with the same token, it changes nothing. False while another host delivers.
create function opsctl_state.begin_attempt(p_row bigint, p_token uuid, p_holder uuid, p_text text, p_members json)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '3s'
as $$
declare
  v_members constant bigint[] :=
    array(select m.value::bigint from json_array_elements_text(p_members) as m(value));
  v_now     bigint;
  v_row     opsctl_state.outbox;
begin
  if cardinality(v_members) > 0 then
    perform from opsctl_state.totals for update;
  end if;
  v_now := opsctl_state.now_ms();
  select o.* into v_row from opsctl_state.outbox as o where o.id = p_row for update;
  if not found then
    return false;
  end if;
  if v_row.call_token = p_token then
    return true;
  end if;
  if v_row.settled_at is not null or v_row.digest is not null
     or (p_text is null and v_row.text is null)
     or (p_text is not null and v_row.text is not null
         and (v_row.unclear > 0 or v_row.is_unsettled or cardinality(v_members) > 0))
     or exists (select from opsctl_state.lease as l
                where l.name = 'dispatcher' and l.holder <> p_holder and l.expires_at > v_now)
     or (cardinality(v_members) > 0 and not opsctl_state.enlist(v_row, v_members)) then
    return false;
  end if;
  update opsctl_state.outbox as o
  set text = coalesce(p_text, o.text), is_unsettled = true,
      first_begun_at = case when p_text is null then o.first_begun_at else v_now end,
      unanswered_at = case when p_text is null then o.unanswered_at end,
      attempts = o.attempts + o.is_unsettled::int, unclear = o.unclear + o.is_unsettled::int,
      has_members = o.has_members or cardinality(v_members) > 0, call_token = p_token
  where o.id = p_row;
  insert into opsctl_state.attempts (kind, begun_at) values (v_row.kind, v_now);
  return true;
end $$;

-- Records what was tried for a row before it was kept: a send that may have arrived is looked for before another one. A row
-- that was begun since is left as it is.
create function opsctl_state.take_up(p_row bigint, p_tried json)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '3s'
as $$
declare
  v_now   bigint;
  v_row   opsctl_state.outbox;
  v_tried record;
begin
  select o.* into v_row from opsctl_state.outbox as o where o.id = p_row for update;
  if not found or v_row.settled_at is not null or v_row.text is not null or v_row.digest is not null then
    return;
  end if;
  v_now := opsctl_state.now_ms();
  select t.* into strict v_tried
  from json_to_record(p_tried) as t(
    text text, attempts integer, unclear integer, begun_for_ms bigint, unanswered_for_ms bigint, delay_ms bigint);
  update opsctl_state.outbox as o
  set text = v_tried.text, attempts = v_tried.attempts, unclear = v_tried.unclear,
      first_begun_at = v_now - v_tried.begun_for_ms, unanswered_at = v_now - v_tried.unanswered_for_ms,
      waits_from = v_now, due_at = v_now + v_tried.delay_ms
  where o.id = p_row;
end $$;

-- Makes the oldest undelivered row the head of its kind and fingerprint; the caller holds the lock of the totals.
create or replace function opsctl_state.promote(p_kind text, p_key text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  v_first bigint;
  v_head  bigint;
begin
  select o.id into v_first from opsctl_state.outbox as o
  where o.kind = p_kind and o.issue_key = p_key and o.state = 'queued'
  order by o.id + 0 limit 1;
  select o.id into v_head from opsctl_state.outbox as o
  where o.kind = p_kind and o.issue_key = p_key and o.is_head
  limit 1;
  if v_first is not distinct from v_head then
    return;
  end if;
  update opsctl_state.outbox as o set is_head = false where o.id = v_head;
  update opsctl_state.outbox as o set is_head = true where o.id = v_first;
end $$;

-- Ends rows that wait; the caller holds the lock of the totals. An issue's claim and comments go with it.
create function opsctl_state.end_rows(
  p_ids bigint[], p_as text, p_attempts integer, p_code text, p_reference text, p_url text, p_token uuid, p_now bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  v_id    bigint;
  v_row   opsctl_state.outbox;
  v_delta opsctl_state.totals;
begin
  foreach v_id in array p_ids
  loop
    select o.* into v_row from opsctl_state.outbox as o where o.id = v_id for update;
    continue when not found or v_row.settled_at is not null;
    v_delta := opsctl_state.tally(v_delta, v_row, -1);
    update opsctl_state.outbox as o
    set state = p_as, is_head = false, is_unsettled = false, call_token = p_token, settled_at = p_now,
        attempts = o.attempts + p_attempts, code = p_code, reference = p_reference, url = p_url,
        alert = case when p_as <> 'delivered' then o.alert end,
        alertname = case when p_as <> 'delivered' then o.alertname end,
        text = case when p_as <> 'delivered' then o.text end
    where o.id = v_id
    returning o.* into v_row;
    v_delta := opsctl_state.tally(v_delta, v_row, 1);
    if v_row.kind = 'message' and p_as = 'dead' then
      v_delta.detour_given_up := coalesce(v_delta.detour_given_up, 0) + 1;
    end if;
    perform opsctl_state.promote(v_row.kind, v_row.issue_key);
    if v_row.kind = 'issue' then
      perform opsctl_state.end_issue(v_row, p_now);
    end if;
  end loop;
  perform opsctl_state.add_totals(v_delta);
end $$;

-- What the end of an issue means for its claim and its comments.
create function opsctl_state.end_issue(p_issue opsctl_state.outbox, p_now bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_comments constant bigint[] := array(select o.id from opsctl_state.outbox as o where o.issue_row = p_issue.id);
begin
  if p_issue.state = 'delivered' then
    perform opsctl_state.confirm(p_issue.issue_key, p_issue.claim_token::text, null, p_issue.url, p_now);
    update opsctl_state.outbox as o set is_blocked = false where o.id = any (v_comments);
    return;
  end if;
  if p_issue.state = 'dead' then
    perform opsctl_state.release(p_issue.issue_key, p_issue.claim_token::text, p_now);
  end if;
  if cardinality(v_comments) > 0 then
    perform opsctl_state.end_rows(
      v_comments, 'dead', 0, 'issue_given_up', null, null, p_issue.call_token, p_now);
  end if;
end $$;

-- Records how an attempt ended, of the row and of the members of its text. Asked again with the same token, it changes
-- nothing.
create function opsctl_state.settle(
  p_row bigint, p_token uuid, p_as text, p_delay_ms bigint, p_code text, p_tried_ms bigint, p_is_unclear boolean,
  p_is_unanswered boolean, p_reference text, p_url text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '3s'
as $$
declare
  v_now bigint;
  v_row opsctl_state.outbox;
  v_ids bigint[];
begin
  if p_as <> 'retry' then
    perform from opsctl_state.totals for update;
  end if;
  v_now := opsctl_state.now_ms();
  select o.* into v_row from opsctl_state.outbox as o where o.id = p_row for update;
  if not found or v_row.settled_at is not null or v_row.call_token = p_token then
    return;
  end if;
  v_ids := p_row || case when v_row.has_members then opsctl_state.member_ids(p_row) else '{}' end;
  if p_is_unanswered then
    update opsctl_state.outbox as o set unanswered_at = v_now where o.id = any (v_ids) and o.settled_at is null;
  end if;
  if p_as <> 'retry' then
    perform opsctl_state.end_rows(v_ids, p_as, 1, p_code, p_reference, p_url, p_token, v_now);
    return;
  end if;
  update opsctl_state.outbox as o
  set attempts = o.attempts + 1, waits_from = v_now, due_at = v_now + p_delay_ms, code = p_code,
      tried_ms = coalesce(p_tried_ms, o.tried_ms), unclear = o.unclear + p_is_unclear::int, is_unsettled = false,
      call_token = p_token
  where o.id = any (v_ids) and o.settled_at is null;
end $$;

-- As hosts of before call it.
create or replace function opsctl_state.settle(
  p_row bigint, p_as text, p_delay_ms bigint, p_code text, p_reference text, p_url text)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select opsctl_state.settle(
    p_row, gen_random_uuid(), p_as, p_delay_ms, p_code, null, false, false, p_reference, p_url)
$$;
