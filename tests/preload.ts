import { afterAll } from "bun:test";
import { stopSharedPostgres } from "./postgres.ts";

// The window is computed in the report's zone: a test that passes only in one host zone is wrong.
process.env["TZ"] ??= "Pacific/Kiritimati";

afterAll(async () => {
  await stopSharedPostgres();
});
