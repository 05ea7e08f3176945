/** The webhook killed while alerts arrive, in short; `make chaos` does it at length and with many seeds. */
import { expect, test } from "bun:test";
import { requires } from "../support/requires.ts";
import { killWebhookAtRandom } from "./webhook/kills.ts";

const SHORT = { seed: 20261121, posts: 40, kills: 4 };
/** So many messages are on their way at once; a kill may leave each of them where no look-up finds it yet. */
const AT_ONCE = 4;

test("opsctl webhook serve, killed again and again, loses no accepted alert and doubles no issue", async () => {
  const damage = await killWebhookAtRandom(SHORT);
  // The gateway keeps what it sends: only a send that is still on its way when it is looked up goes twice.
  expect(damage.doubled).toBeLessThanOrEqual(AT_ONCE * SHORT.kills);
});

test("opsctl webhook serve, killed while most alerts go out together, loses none", async () => {
  const damage = await killWebhookAtRandom({ ...SHORT, posts: 20, kills: 2, digests: true });
  expect(damage.digests).toBeGreaterThan(0);
});

requires("mount").test(
  "opsctl webhook serve, killed with its disk full, loses no accepted alert",
  async () => {
    await killWebhookAtRandom({ ...SHORT, posts: 20, kills: 2, fullDisk: true });
  },
);
