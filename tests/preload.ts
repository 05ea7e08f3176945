import { afterAll, setDefaultTimeout } from "bun:test";
import { stopSharedPostgres } from "./postgres.ts";

// The window is computed in the report's zone: a test that passes only in one host zone is wrong.
process.env["TZ"] ??= "Pacific/Kiritimati";

// Starting a database takes its time on a busy machine, and a test that times out takes the database with it.
setDefaultTimeout(120_000);

// A machine under load starts a server slowly; bunfig.toml has no setting for this.
setDefaultTimeout(120_000);

afterAll(async () => {
  await stopSharedPostgres();
});
