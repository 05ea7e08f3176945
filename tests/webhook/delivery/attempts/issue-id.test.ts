import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { issueIdOf } from "../../../../lib/webhook/delivery/attempts/issue-id.ts";

describe("issueIdOf()", () => {
  test("is known, so that it survives a restart and a release", () => {
    const hash = createHash("sha256").update('["5c1f0e9a77b3d2e4",1772439330000]').digest("hex");
    const id = issueIdOf("5c1f0e9a77b3d2e4", 1_772_439_330_000);
    expect(id).toBe("83244607-09e1-4520-9482-f93b796a8276");
    expect(id.slice(0, 8)).toBe(hash.slice(0, 8));
    expect(id.slice(-12)).toBe(hash.slice(20, 32));
  });

  test.each([
    ["a", 1, "135f17a4-75a6-4afd-aeaf-3759ad2e45ad"],
    ["c", 1, "ed59a555-f0a1-4efb-84bc-c986dfe71f91"],
    ["d", 1, "d3ea4633-5a97-49bf-b691-2600ae6005db"],
    ["e", 2, "8742fbc5-22cd-4e81-a188-0bef3bc50cf3"],
    ["f", 82, "ed866c4f-1fe1-4e22-b780-99688dea8035"],
  ])("stays what another version of opsctl asked for: %s, %d", (fingerprint, claimedAtMs, id) => {
    expect(issueIdOf(fingerprint, claimedAtMs)).toBe(id);
  });

  test("is a UUID of version 4, whatever the fingerprint", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.maxSafeInteger(), (fingerprint, claimedAtMs) => {
        expect(issueIdOf(fingerprint, claimedAtMs)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }),
    );
  });

  test("differs with the fingerprint, with the claim, and where the two could run together", () => {
    const ids = [
      issueIdOf("a", 1),
      issueIdOf("a", 2),
      issueIdOf("b", 1),
      issueIdOf("a1", 1),
      issueIdOf("a", 11),
      issueIdOf("a,1", 1),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});
