-- A report goes with its tenant or user. No other session reads or writes the application's tables until this is
-- committed, so nothing that takes long on years of reports stands beside it.

alter table public.weekly_performance_reports
  drop constraint if exists weekly_performance_reports_tenant_id_fkey,
  drop constraint if exists weekly_performance_reports_user_id_fkey,
  add constraint weekly_performance_reports_tenant_id_fkey
    foreign key (tenant_id) references public.tenants (id) on delete cascade,
  add constraint weekly_performance_reports_user_id_fkey
    foreign key (user_id) references public.users (id) on delete cascade;
