import { describe, expect, test } from "bun:test";
import { Tellings } from "../../../../lib/webhook/delivery/unkept/tellings.ts";
import { sampleAlert } from "../../support/sample-alert.ts";

const HALF_HOUR_MS = 30 * 60_000;
const MOST = 20_000;
const TAKEN = { status: "delivered", reference: "id", url: null } as const;
const alert = (at: number) => sampleAlert({ fingerprint: `f${at}` });

let clockMs = 0;
const open = () => new Tellings(() => clockMs);

/** A post of an alert that the gateway takes, and that is refused for another of its alerts. */
function refused(tellings: Tellings, at: number): void {
  const telling = tellings.of(alert(at));
  telling.posts += 1;
  telling.taken = TAKEN;
  tellings.answered(telling, false);
}

describe("Tellings", () => {
  test("remembers what was taken for a refused post for 30 minutes after the last one", () => {
    const tellings = open();
    refused(tellings, 0);
    clockMs += HALF_HOUR_MS - 1;
    refused(tellings, 0);
    clockMs += HALF_HOUR_MS - 1;
    expect(tellings.find(alert(0))?.taken).toEqual(TAKEN);
    clockMs += 1;
    expect(tellings.find(alert(0))).toBeNull();
    tellings.forgetOld();
    expect(tellings.size).toBe(0);
  });

  test("forgets those that were posted longest ago when there are too many, and none for which a post waits", () => {
    const tellings = open();
    const waiting = tellings.of(alert(-1));
    waiting.posts += 1;
    for (let at = 0; at < MOST; at += 1) refused(tellings, at);
    refused(tellings, 0);
    tellings.forgetOld();
    expect(tellings.size).toBe(MOST);
    expect([-1, 0, 1, 2].map((at) => tellings.find(alert(at)) !== null)).toEqual([true, true, false, true]);
  });

  test("a post that ends late forgets nothing of a later one of the same alert", () => {
    const tellings = open();
    const early = tellings.of(alert(0));
    early.posts += 1;
    tellings.forget(early);
    refused(tellings, 0);
    tellings.answered(early, false);
    expect(tellings.find(alert(0))?.taken).toEqual(TAKEN);
  });
});
