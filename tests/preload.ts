import { afterAll } from "bun:test";
import fc from "fast-check";
import { runAtEnd } from "./support/at-end.ts";
import { putOnPath } from "./support/debian-tool.ts";
import { IPROUTE2 } from "./support/iproute2.ts";
import { stopSharedPostgres } from "./support/postgres.ts";

// The window is computed in the report's zone: a test that passes only in one host zone is wrong.
process.env.TZ ??= "Pacific/Kiritimati";

// What tests/run.ts sets for the engine of this process is not for the programs that tests start.
for (const name of Object.keys(process.env)) if (name.startsWith("BUN_JSC_")) delete process.env[name];

// opsctl refuses directories that a group may write to, and some hosts make every directory so.
process.umask(0o022);

// Otherwise an array that may have sixty elements never has more than about ten.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });

// A minimal Debian has neither `ss`, which the collector starts, nor `ip`.
for (const tool of IPROUTE2) putOnPath(tool);

afterAll(async () => {
  // A worker comes here after each file; its folders and servers last as long as it, and tests/run.ts removes them.
  if (process.env.OPSCTL_TEST_RUN !== undefined) return;
  runAtEnd();
  await stopSharedPostgres();
});
