import { expect, test } from "bun:test";
import type { Catalog } from "../../lib/schema/catalog.ts";
import { grantProblems, platformProblems } from "../../lib/schema/problems.ts";

const FINE: Catalog = {
  login: "weekly",
  serverVersion: 180_000,
  isService: true,
  isServiceMember: true,
  missingRoles: [],
  missingAuthUid: false,
  missingTables: [],
  missingColumns: [],
  missingFunctions: [],
  schemaGrants: [],
  grants: [],
  executeGrants: [],
  rowSecurity: [],
  recordTable: { exists: true, readable: true, visible: true },
};

test("platformProblems() names each role of the hosted platform that is missing, with the statement that makes it", () => {
  expect(platformProblems(FINE)).toEqual([]);
  const problems = platformProblems({
    ...FINE,
    missingRoles: ["anon", "service_role"],
    missingAuthUid: true,
  });
  expect(
    problems.map(({ message, hint }) => [message.replace("Cannot use the database: ", ""), hint]),
  ).toEqual([
    ["role anon is missing", "create role anon nologin;"],
    ["role service_role is missing", "create role service_role nologin bypassrls;"],
    [
      "function auth.uid() is missing",
      "Bring the platform's auth.uid(), which answers the id of who is signed in as uuid",
    ],
  ]);
});

test("grantProblems() quotes a role whose name needs it", () => {
  const schemaGrants = [{ role: 'Weekly "A"', schema: "public", privilege: "USAGE" }];
  expect(grantProblems({ ...FINE, schemaGrants }).map((problem) => problem.hint)).toEqual([
    'grant usage on schema public to "Weekly ""A""";',
  ]);
});
