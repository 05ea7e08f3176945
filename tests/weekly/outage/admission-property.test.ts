/** For any answers of the application, in any order: no owner is stuck, and no other owner is asked beside a probe. */
import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { APP_NOT_ANSWERING, APPLICATION_REFUSES, createStop } from "../../../lib/weekly/context/run-stop.ts";
import { forEachConcurrently } from "../../../lib/weekly/context/scopes.ts";
import { createAdmission } from "../../../lib/weekly/outage/admission.ts";
import type { CallVerdict } from "../../../lib/weekly/outage/breaker.ts";
import { decideOwner } from "../../../lib/weekly/outage/decide-owner.ts";
import { virtualTime } from "../support/virtual-time.ts";

const VERDICTS: CallVerdict[] = [
  "good",
  "may_heal",
  "may_heal",
  "may_heal",
  "refused",
  "lasting",
  "no_analysis",
];

/** Each stretch of calls gets one verdict; then the last one stays, or all begin again. */
const application = fc.array(
  fc.record({ verdict: fc.constantFrom(...VERDICTS), calls: fc.integer({ min: 1, max: 60 }) }),
  { minLength: 1, maxLength: 8 },
);

const given: fc.Arbitrary<Given> = fc.record({
  application,
  beginsAgain: fc.boolean(),
  owners: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 5, maxLength: 40, size: "max" }),
  concurrency: fc.integer({ min: 1, max: 8 }),
  patienceMinutes: fc.constantFrom(0, 1, 15),
});

type Given = {
  application: { verdict: CallVerdict; calls: number }[];
  beginsAgain: boolean;
  owners: number[];
  concurrency: number;
  patienceMinutes: number;
};

/** Failures and refusals in turns, so that no owner is ever decided about. */
const IN_TURNS: Given = {
  application: [
    { verdict: "may_heal", calls: 1 },
    { verdict: "refused", calls: 1 },
  ],
  beginsAgain: true,
  owners: [0, 0, 0, 1, 1],
  concurrency: 1,
  patienceMinutes: 0,
};

/** A run reduced to its passes: who is asked when, and what is decided about whom. */
async function simulate({ application, beginsAgain, owners, concurrency, patienceMinutes }: Given) {
  const [stop, time] = [createStop(), virtualTime()];
  const script = application.flatMap(({ verdict, calls }) => Array<CallVerdict>(calls).fill(verdict));
  let made = 0;
  let [asking, mostBesideProbe, isProbing] = [0, 0, false];
  const admission = createAdmission({
    stop,
    patienceMs: patienceMinutes * 60_000,
    mondayLeftMs: () => 86_400_000 - time.monotonicMs(),
    ...time,
    reasonOf: (code) => APPLICATION_REFUSES[code ?? ""] ?? APP_NOT_ANSWERING,
    onWait: () => {},
    onWaitEnd: () => {},
  });
  const decided: { owner: string; verdicts: CallVerdict[] }[] = [];
  const putBack: { owner: string; connections: number }[] = [];
  const take = async (owner: string, connections: number, isSecondChance: boolean) => {
    const turn = await admission.enter(owner);
    if (turn === null) return;
    asking += 1;
    isProbing ||= turn.isProbe;
    if (isProbing) mostBesideProbe = Math.max(mostBesideProbe, asking);
    const verdicts: CallVerdict[] = [];
    while (verdicts.length < connections && !admission.mustPutBack(turn)) {
      await setImmediate();
      const at = beginsAgain ? made % script.length : Math.min(made, script.length - 1);
      made += 1;
      const verdict = script[at]!;
      const beganAt = admission.begin(turn);
      verdicts.push(verdict);
      admission.record(turn, { verdict, code: verdict === "refused" ? "APP_HTTP_401" : verdict, beganAt });
    }
    const isCut = verdicts.length < connections;
    const facts = {
      verdicts,
      isSecondChance,
      hasGood: admission.hasGood(),
      isFlowing: admission.isFlowing(),
      mayDecide: !turn.isProbe && (admission.hasGoodSince(turn) || admission.isWaitingOver()),
    };
    const { status } = decideOwner({ ...facts, mayRemember: true });
    if (isCut || status === "put_back") putBack.push({ owner, connections });
    else decided.push({ owner, verdicts });
    asking -= 1;
    if (turn.isProbe) isProbing = false;
    admission.leave(turn);
  };
  await forEachConcurrently(owners.entries(), concurrency, ([i, connections]) =>
    take(`owner ${i}`, connections, false),
  );
  let before = Number.POSITIVE_INFINITY;
  for (let passes = 0; putBack.length > 0 && stop.reason() === null; passes += 1) {
    expect(passes).toBeLessThan(200);
    admission.endPass({ hasDecided: putBack.length < before });
    before = putBack.length;
    const again = putBack
      .splice(0)
      .sort((a, b) => Number(admission.isAsked(a.owner)) - Number(admission.isAsked(b.owner)));
    await forEachConcurrently(again, concurrency, ({ owner, connections }) => take(owner, connections, true));
  }
  return { stop, decided, putBack, mostBesideProbe, waitedMs: time.monotonicMs(), made };
}

test("every owner is decided about once, or the run says why it broke off; a probe is alone", async () => {
  await fc.assert(
    fc.asyncProperty(given, async (run) => {
      const { stop, decided, mostBesideProbe, waitedMs, made } = await simulate(run);
      expect(mostBesideProbe).toBeLessThanOrEqual(1);
      const names = decided.map(({ owner }) => owner);
      expect(new Set(names).size).toBe(names.length);
      if (stop.reason() === null) expect(names).toHaveLength(run.owners.length);
      else expect(["APP_NOT_ANSWERING", "APP_HTTP_401"]).toContain(stop.reason()!.code);
      if (run.patienceMinutes === 0) expect(waitedMs).toBe(0);
      // The application is never flooded: between two waits there is a good answer.
      expect(made).toBeLessThan(3_000);
    }),
    { numRuns: 150, examples: [[IN_TURNS]] },
  );
});
