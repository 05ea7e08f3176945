import { afterAll } from "bun:test";
import { readFile } from "node:fs/promises";
import { plugin } from "bun";
import fc from "fast-check";
import { runAtEnd } from "./support/at-end.ts";
import { putOnPath } from "./support/debian-tool.ts";
import { IPROUTE2 } from "./support/iproute2.ts";
import { stopSharedPostgres } from "./support/postgres.ts";

/** Ends what hangs, and judges nothing: Bun ends the servers of the whole process with the test that it gives up. */
const TEST_LIMIT_MS = 600_000;

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

// Starting a database takes its time on a busy machine. Bun sets its limit of five seconds anew for each test file,
// and knows neither a setting for it nor a call that lasts, so every file begins with the call; on its first line,
// so that line numbers stay.
plugin({
  name: "test-limit",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      contents: `(await import("bun:test")).setDefaultTimeout(${TEST_LIMIT_MS});${await readFile(path, "utf8")}`,
    }));
  },
});

afterAll(async () => {
  // A worker comes here after each file; its folders and servers last as long as it, and tests/run.ts removes them.
  if (process.env.OPSCTL_TEST_RUN !== undefined) return;
  runAtEnd();
  await stopSharedPostgres();
});
