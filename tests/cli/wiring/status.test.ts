/** What `opsctl status` is made of. */
import { expect, test } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { openStatusDependencies } from "../../../cli/wiring/host/status.ts";

test("openStatusDependencies() does not count the time in which this process is not free", async () => {
  const { wait } = await openStatusDependencies({ OPSCTL_ENV_DIR: "" });
  const done = new AbortController();
  let isOver = false;
  const waiting = wait(500, done.signal).then(() => {
    isOver = true;
  });
  const untilMs = performance.now() + 600;
  while (performance.now() < untilMs);
  await delay(1);
  expect(isOver).toBe(false);
  done.abort();
  await waiting;
});
