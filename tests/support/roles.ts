import { randomBytes } from "node:crypto";
import type postgres from "postgres";
import { PASSWORD } from "./postgres.ts";

/** A new login of the test server with its usual password; its name is put behind each of `grants` ("grant x to"). */
export async function newLogin(superuser: postgres.Sql, ...grants: string[]): Promise<string> {
  const name = `login_${randomBytes(6).toString("hex")}`;
  await superuser.unsafe(`create role ${name} login password '${PASSWORD}'`);
  for (const grant of grants) await superuser.unsafe(`${grant} ${name}`);
  return name;
}
