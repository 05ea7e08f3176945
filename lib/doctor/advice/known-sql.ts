import {
  APPLICATION_REQUIREMENTS,
  FUNCTION_REQUIREMENTS,
  OWN_REQUIREMENTS,
} from "../../schema/requirements.ts";
import { PAGE_GRANT } from "../facts/page-access.ts";

const STATEMENTS: readonly string[] = [
  "create role anon nologin;",
  "create role authenticated nologin;",
  "create role service_role nologin bypassrls;",
  "alter role service_role bypassrls;",
  "grant usage on schema public to service_role;",
  "grant select on public.opsctl_migrations to service_role;",
  PAGE_GRANT,
  ...FUNCTION_REQUIREMENTS.map(
    ({ name, args }) => `grant execute on function public.${name}(${args}) to service_role;`,
  ),
];
const COLUMN_GRANT =
  /^grant (select|insert)(?: \(([a-z_]+(?:, [a-z_]+)*)\))? on public\.(\w+) to service_role;$/;
const REQUIREMENTS = [...APPLICATION_REQUIREMENTS, ...OWN_REQUIREMENTS].filter(
  ({ side }) => side === "login",
);

/**
 * Whether a text is a statement that opsctl advises, with names that it knows by itself.
 *
 * Behaviour: a statement for a login is not one of them: only the account that opsctl runs as says which login it is.
 *            What is granted to service_role is what the weekly run requires of a login.
 */
export function isKnownSql(text: string): boolean {
  if (STATEMENTS.includes(text)) return true;
  const [, privilege, columns, table] = COLUMN_GRANT.exec(text) ?? [];
  if (table === undefined) return false;
  const required = REQUIREMENTS.filter((one) => one.table === table).filter(
    (one) => one.privilege.toLowerCase() === privilege,
  );
  const names = required.map(({ column }) => column);
  return names.length > 0 && (columns?.split(", ") ?? []).every((column) => names.includes(column));
}
