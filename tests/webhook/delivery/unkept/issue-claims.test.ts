import { expect, test } from "bun:test";
import { IssueClaims } from "../../../../lib/webhook/delivery/unkept/issue-claims.ts";

test("IssueClaims.find() does not wait for a state that hangs", async () => {
  const rememberIssues = async () => {};
  const hanging = new IssueClaims({ issueClaim: () => new Promise(() => {}), rememberIssues }, () => 0, 1);
  expect(await hanging.find({ fingerprint: "a" })).toBeNull();
  hanging.created("a", { claimedAtMs: 0, url: "https://tracker.example/issue/1" });
  expect(await hanging.find({ fingerprint: "a" })).toMatchObject({ url: "https://tracker.example/issue/1" });
});
