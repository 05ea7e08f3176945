/**
 * Logs in at each URL of the first argument and prints one line of JSON: `logged in` when the server accepted the
 * login, else the code; under the runtime that runs this file.
 */
import process from "node:process";
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

if (import.meta.main) {
  const urls: string[] = JSON.parse(process.argv[2] ?? "[]");
  console.log(JSON.stringify(await Promise.all(urls.map(loginAt))));
}
