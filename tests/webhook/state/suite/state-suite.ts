/** What the webhook's state must do on every store; a test file registers it for its store. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { sampleAlert } from "../../support/sample-alert.ts";
import type { OpenStateFixture, StateFixture } from "../../support/state-fixture.ts";
import { acceptTests, issueTests, limitTests } from "./accept.ts";
import { alarmSuite } from "./alarm.ts";
import { attemptTests } from "./attempts.ts";
import { deadTests } from "./dead.ts";
import { deliveryTests } from "./delivery.ts";
import { endTests } from "./ends.ts";
import { issueClaimTests } from "./issue-claims.ts";
import { orderTests } from "./order.ts";
import { criticalShareTests, queueTests } from "./queue.ts";

/** Registers the suite for one store. */
export function stateSuite(name: string, open: OpenStateFixture): void {
  describe(name, () => {
    let fixture: StateFixture;
    beforeEach(async () => {
      fixture = await open();
    });
    afterEach(() => fixture.close());
    acceptTests(() => fixture);
    issueTests(() => fixture);
    deliveryTests(() => fixture);
    deadTests(() => fixture);
    attemptTests(() => fixture);
    queueTests(() => fixture);
    issueClaimTests(() => fixture);
    processTests(() => fixture);
  });
  describe(name, () => {
    limitTests(open);
    criticalShareTests(open);
    orderTests(open);
    endTests(open);
  });
  alarmSuite(name, open);
}

function processTests(fixture: () => StateFixture): void {
  test("two processes that accept the same alerts claim each issue once", async () => {
    const states = [fixture().state, await fixture().another()];
    const alerts = Array.from({ length: 20 }, (_, index) => sampleAlert({ fingerprint: `f${index}` }));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => states[index % 2]?.accept([alerts])),
    );
    const accepted = outcomes.flatMap(([outcome] = []) =>
      outcome && "accepted" in outcome ? outcome.accepted : [],
    );
    expect(accepted).toHaveLength(160);
    expect(accepted.filter(({ issue }) => issue.status === "first")).toHaveLength(20);
  });

  test("one process delivers at a time, and the next one when it has ended", async () => {
    const { state } = fixture();
    const other = await fixture().another();
    expect(await state.lead()).toBe(true);
    expect(await other.lead()).toBe(false);
    expect(await state.lead()).toBe(true);
    await state.close();
    expect(await other.lead()).toBe(true);
  });

  test("can be checked, and was not moved aside", async () => {
    const { state } = fixture();
    await state.check();
    expect(await state.stats()).toMatchObject({
      message: { queued: 0 },
      issue: { queued: 0 },
      queuedBytes: 0,
    });
    expect(state.movedAside).toBeNull();
  });
}
