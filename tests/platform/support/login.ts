/** Logs in at a database: `logged in` when the server accepted the login, else the code. */
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";

/** What becomes of a login; a server that then answers no statement has accepted it all the same. */
export async function loginAt(url: string): Promise<string> {
  try {
    const options = { max: 1, applicationName: "opsctl test", connectLimitMs: 5_000, closeLimitMs: 200 };
    const { close } = await openDatabase(new Secret(url), options);
    await close();
    return "logged in";
  } catch (error) {
    if (error instanceof OpsError) return `${error.code} ${/failed with (\S+)/.exec(error.message)?.[1]}`;
    throw error;
  }
}
