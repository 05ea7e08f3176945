import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";

/** Opens each database and tells whether the session is encrypted, or the code of why there is none. */
export async function sessionsOf(urls: readonly string[]): Promise<string[]> {
  return await Promise.all(urls.map(sessionOf));
}

async function sessionOf(url: string): Promise<string> {
  try {
    const { sql, close } = await openDatabase(new Secret(url), { max: 1, applicationName: "opsctl test" });
    const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    await close();
    return row?.ssl ? "encrypted" : "plain";
  } catch (error) {
    if (error instanceof OpsError) return `${error.code} ${/failed with (\S+)/.exec(error.message)?.[1]}`;
    throw error;
  }
}
