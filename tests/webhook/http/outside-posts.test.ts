import { expect, test } from "bun:test";
import { OutsidePosts } from "../../../lib/webhook/http/outside-posts.ts";

const NOW_MS = Date.parse("2026-11-22T12:00:00Z");
const AT = "2026-11-22T12:00:00.000Z";
const PLATFORM = "203.0.113.7";

test.each<[number, string | null, string | null, string | null, string | null]>([
  [200, "172.18.0.2", PLATFORM, AT, null],
  [401, "172.18.0.2", PLATFORM, null, AT],
  [401, "172.18.0.2", null, null, AT],
  [401, "127.0.0.1", PLATFORM, null, AT],
  [200, "127.0.0.1", null, null, null],
  [401, "::1", null, null, null],
  [401, null, null, null, null],
  [503, "172.18.0.2", PLATFORM, null, null],
])("OutsidePosts: %p to %p for %p", (status, address, forwardedFor, acceptedAt, secretRefusedAt) => {
  const posts = new OutsidePosts(() => NOW_MS);
  expect(posts.view).toEqual({ acceptedAt: null, secretRefusedAt: null });
  posts.answered(status, { address, forwardedFor });
  expect(posts.view).toEqual({ acceptedAt, secretRefusedAt });
});
