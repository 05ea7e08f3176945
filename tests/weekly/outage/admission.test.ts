import { describe, expect, test } from "bun:test";
import { APP_NOT_ANSWERING, APPLICATION_REFUSES, createStop } from "../../../lib/weekly/context/run-stop.ts";
import { createAdmission, type Turn } from "../../../lib/weekly/outage/admission.ts";
import type { CallVerdict } from "../../../lib/weekly/outage/breaker.ts";
import { virtualTime } from "../support/virtual-time.ts";

const MINUTE = 60_000;

function opened({ patienceMs = 15 * MINUTE, mondayLeftMs = 600 * MINUTE } = {}) {
  const [stop, time] = [createStop(), virtualTime()];
  const told: string[] = [];
  const admission = createAdmission({
    stop,
    patienceMs,
    mondayLeftMs: () => mondayLeftMs - time.monotonicMs(),
    ...time,
    reasonOf: (code) => APPLICATION_REFUSES[code ?? ""] ?? APP_NOT_ANSWERING,
    onWait: ({ kind, deadlineMs }) => told.push(`${kind} until ${deadlineMs}`),
    onWaitEnd: ({ kind }, end) => told.push(`${kind} ${end}`),
  });
  /** One owner from its turn to the end of its calls. */
  const take = async (owner: string, ...verdicts: CallVerdict[]): Promise<Turn | null> => {
    const turn = await admission.enter(owner);
    if (turn === null) return null;
    for (const verdict of verdicts) call(turn, verdict);
    admission.leave(turn);
    return turn;
  };
  const call = (turn: Turn, verdict: CallVerdict) => {
    const beganAt = admission.begin(turn);
    const codes = { good: null, may_heal: "APP_HTTP_503", refused: "APP_HTTP_401", lasting: "APP_HTTP_404" };
    const code = verdict === "no_analysis" ? "analysis_missing" : codes[verdict];
    admission.record(turn, { verdict, code, beganAt });
  };
  const trip = async () => {
    for (let i = 0; i < 10; i += 1) await take(`first ${i}`, "may_heal", "may_heal");
  };
  return { stop, time, told, admission, take, call, trip };
}

describe("createAdmission()", () => {
  test("lets everybody in as long as all is well", async () => {
    const { admission, take } = opened();
    const [one, other] = await Promise.all([admission.enter("a"), admission.enter("b")]);
    expect([one, other]).toEqual([
      { owner: "a", isProbe: false, calls: 0, failedAt: 0 },
      { owner: "b", isProbe: false, calls: 0, failedAt: 0 },
    ]);
    expect(await take("c", "good", "lasting")).toMatchObject({ isProbe: false });
    expect([admission.isFlowing(), admission.isAsked("c"), admission.isRefusedByAll()]).toEqual([
      true,
      false,
      false,
    ]);
    expect([admission.isLastProbe(one!), admission.mustPutBack(one!)]).toEqual([false, false]);
  });

  test("tripped: one owner every 30 seconds, others in between wait, the first good answer lets all in", async () => {
    const { admission, time, told, take, trip } = opened();
    await trip();
    expect(admission.isFlowing()).toBe(false);
    const entered: string[] = [];
    const all = ["a", "b", "c", "d", "e"].map(async (owner, i) => {
      await take(owner, i < 2 ? "may_heal" : "good");
      entered.push(`${owner} ${time.monotonicMs()}`);
    });
    await Promise.all(all);
    expect(entered).toEqual(["a 30000", "b 60000", "c 90000", "d 90000", "e 90000"]);
    expect(told).toEqual(["tripped until 900000", "tripped answered"]);
  });

  test("tripped: knows the last owner who is asked before the run breaks off", async () => {
    const { admission, call, trip } = opened({ patienceMs: MINUTE });
    await trip();
    for (const isLast of [false, true]) {
      const turn = (await admission.enter("probe"))!;
      expect(admission.isLastProbe(turn)).toBe(isLast);
      call(turn, "may_heal");
      admission.leave(turn);
    }
  });

  test("tripped: owners in flight are put back, and a good answer of theirs lets nobody in", async () => {
    const { admission, call, trip } = opened();
    const late = (await admission.enter("late"))!;
    await trip();
    expect(admission.mustPutBack(late)).toBe(true);
    call(late, "good");
    expect([admission.hasGood(), admission.isFlowing()]).toEqual([true, false]);
    admission.leave(late);
  });

  test("tripped: nobody is asked while a call is still in flight", async () => {
    const { admission, time, take, trip } = opened();
    const late = (await admission.enter("late"))!;
    await trip();
    let asked = false;
    const next = take("next", "good").then(() => {
      asked = true;
    });
    await time.sleep(10 * MINUTE);
    expect(asked).toBe(false);
    admission.leave(late);
    await next;
  });

  test("tripped: owners without calls do not use up a probe", async () => {
    const { time, take, trip } = opened();
    await trip();
    for (let i = 0; i < 50; i += 1) await take(`idle ${i}`);
    expect(time.monotonicMs()).toBe(30_000);
    await take("asked", "may_heal");
    await take("idle");
    expect(time.monotonicMs()).toBe(60_000);
  });

  test.each([
    [15 * MINUTE, 600 * MINUTE, 15 * MINUTE, 30],
    [0, 600 * MINUTE, 0, 0],
    [15 * MINUTE, 100_000, 100_000, 4],
    // Whether Monday is over is for the claim to say.
    [15 * MINUTE, -1, 1, 1],
  ])(
    "tripped: a patience of %i ms with %i ms of Monday left ends after %i",
    async (patienceMs, mondayLeftMs, endMs, probes) => {
      const { stop, time, told, take, trip } = opened({ patienceMs, mondayLeftMs });
      await trip();
      let asked = 0;
      while ((await take(`probe ${asked}`, "may_heal")) !== null) asked += 1;
      expect([time.monotonicMs(), asked]).toEqual([endMs, probes]);
      expect(told).toEqual(endMs === 0 ? [] : [`tripped until ${endMs}`]);
      expect(stop.reason()?.code).toBe("APP_NOT_ANSWERING");
    },
  );

  test("short: waits two minutes at most, and then goes on without a word about the run", async () => {
    const { admission, stop, time, told, take } = opened();
    for (const owner of ["a", "b"]) await take(owner, "may_heal", "may_heal");
    admission.endPass({ hasDecided: true });
    for (let i = 0; i < 4; i += 1)
      expect(await take(`probe ${i}`, ...Array(10).fill("may_heal"))).toMatchObject({ isProbe: true });
    expect(await take("second pass", "may_heal")).toMatchObject({ isProbe: false });
    expect([time.monotonicMs(), stop.reason()]).toEqual([2 * MINUTE, null]);
    expect(told).toEqual(["short until 120000", "short second_pass"]);
    expect(admission.isWaitingOver()).toBe(true);
    // Its calls do not count, nor those before it: nine owners are not enough for an outage.
    for (let i = 0; i < 8; i += 1) await take(`owner ${i}`, "may_heal", "may_heal", "may_heal");
    expect(admission.isFlowing()).toBe(true);
  });

  test("short: the first good answer ends it", async () => {
    const { admission, time, told, take } = opened();
    await take("a", "may_heal");
    admission.endPass({ hasDecided: true });
    await take("b", "may_heal");
    await take("c", "good");
    expect([time.monotonicMs(), admission.isFlowing()]).toEqual([MINUTE, true]);
    expect(told).toEqual(["short until 120000", "short answered"]);
    expect([admission.isWaitingOver(), admission.hasGood()]).toEqual([false, true]);
  });

  test("short: a refusal of the first call that is answered is confirmed at once", async () => {
    const { stop, time, take, admission } = opened();
    await take("a", "may_heal");
    admission.endPass({ hasDecided: true });
    for (const owner of ["b", "c", "d"]) await take(owner, "refused");
    expect([stop.reason()?.code, time.monotonicMs()]).toEqual(["APP_HTTP_401", MINUTE / 2]);
  });

  test.each([
    [false, 5 * MINUTE],
    [true, 10 * MINUTE],
  ])(
    "short: the waits before passes share the patience, unless a pass decided about an owner (%p)",
    async (hasDecided, waitedMs) => {
      const { admission, time, take } = opened({ patienceMs: 5 * MINUTE });
      for (let pass = 0; pass < 20; pass += 1) {
        await take("a", "good", "may_heal");
        admission.endPass({ hasDecided });
        await take("b", "good");
      }
      expect([time.monotonicMs(), admission.isWaitingOver()]).toEqual([waitedMs, !hasDecided]);
    },
  );

  test("short: no longer than the patience", async () => {
    const { admission, told, take } = opened({ patienceMs: MINUTE });
    await take("a", "may_heal");
    admission.endPass({ hasDecided: true });
    expect(told).toEqual(["short until 60000"]);
  });

  test("once the waiting is over no pass waits, and the run breaks off after one that was of no use at all", async () => {
    const { admission, stop, time, take } = opened();
    await take("a", "good", "lasting", "may_heal");
    admission.endPass({ hasDecided: false });
    await take("a", "good", "may_heal");
    admission.endPass({ hasDecided: false });
    await take("a", "may_heal");
    admission.endPass({ hasDecided: true });
    expect([stop.reason(), admission.isFlowing(), time.monotonicMs()]).toEqual([null, true, 0]);
    await take("a", "may_heal");
    admission.endPass({ hasDecided: false });
    expect(stop.reason()?.code).toBe("APP_NOT_ANSWERING");
  });

  test("tripped: a pass that ends meanwhile changes nothing", async () => {
    const { admission, stop, time, told, take, trip } = opened();
    await trip();
    admission.endPass({ hasDecided: true });
    for (let asked = 0; stop.reason() === null; asked += 1) await take(`probe ${asked}`, "may_heal");
    expect([time.monotonicMs(), told]).toEqual([15 * MINUTE, ["tripped until 900000"]]);
  });

  test.each<[string, CallVerdict[]]>([
    ["APP_HTTP_401", ["refused"]],
    ["APP_NOT_ANSWERING", ["refused", "may_heal"]],
  ])("breaks off with %s when the only owner gets %p after an outage", async (code, verdicts) => {
    const { admission, stop, take } = opened();
    await take("a", "may_heal");
    admission.endPass({ hasDecided: true });
    for (let i = 0; i < 4; i += 1) await take("a", "may_heal");
    await take("a", ...verdicts);
    expect(stop.reason()).toBeNull();
    admission.endPass({ hasDecided: false });
    expect(stop.reason()?.code).toBe(code);
  });

  test.each<[string, CallVerdict[], number, boolean]>([
    ["nothing was called", [], 15, false],
    ["the last call was good", ["may_heal", "good"], 15, false],
    ["another answer came since", ["good", "lasting", "may_heal"], 15, true],
    ["there is no patience", ["may_heal"], 0, true],
    ["there is no patience, and the last call was good", ["may_heal", "good"], 0, true],
  ])("short: no wait when %s", async (_name, verdicts, minutes, isOver) => {
    const { admission, take } = opened({ patienceMs: minutes * MINUTE });
    await take("a", ...verdicts);
    admission.endPass({ hasDecided: true });
    expect([admission.isFlowing(), admission.isWaitingOver()]).toEqual([true, isOver]);
  });

  test("a refusal before any good call: two others are asked, one at a time, without a pause", async () => {
    const { admission, stop, time, take } = opened();
    await take("a", "refused");
    const asked: string[] = [];
    const others = ["b", "c", "d", "e"].map(async (owner) => {
      if ((await take(owner, "refused")) !== null) asked.push(owner);
    });
    await Promise.all(others);
    expect(asked).toEqual(["b", "c"]);
    expect([stop.reason()?.code, time.monotonicMs()]).toEqual(["APP_HTTP_401", 0]);
    expect(admission.isAsked("a")).toBe(true);
  });

  test.each(["good", "lasting", "may_heal", "no_analysis"] as const)(
    "one that answers %s instead refutes it",
    async (verdict) => {
      const { admission, stop, take } = opened();
      await take("a", "refused");
      await take("b", "refused");
      await take("c", verdict);
      expect(await take("d")).toMatchObject({ isProbe: false });
      expect([admission.isFlowing(), stop.reason()]).toEqual([true, null]);
    },
  );

  test("another answer to the same owner refutes it, also when no other owner is left", async () => {
    const { admission, stop, take } = opened();
    const late = (await admission.enter("late"))!;
    await take("a", "refused", "lasting");
    const again = take("a");
    admission.leave(late);
    expect(await again).toMatchObject({ isProbe: false });
    expect([admission.isFlowing(), stop.reason()]).toEqual([true, null]);
  });

  test("those in flight are heard before anything is concluded from a refusal", async () => {
    const { admission, stop, call } = opened();
    const turns = (await Promise.all(["a", "b", "c", "d"].map((owner) => admission.enter(owner)))) as Turn[];
    const areAllRefused = turns.slice(0, 3).map((turn) => {
      call(turn, "refused");
      admission.leave(turn);
      return admission.isRefusedByAll();
    });
    expect([stop.reason(), areAllRefused]).toEqual([null, [false, false, true]]);
    call(turns[3]!, "good");
    expect([stop.reason(), admission.isFlowing(), admission.isRefusedByAll()]).toEqual([null, true, false]);
    call(turns[3]!, "refused");
    admission.leave(turns[3]!);
    expect([stop.reason(), admission.isFlowing()]).toEqual([null, true]);
  });

  test("an owner that was asked is asked again only when no other one is left, and then it is concluded", async () => {
    const { stop, take } = opened();
    await take("a", "refused");
    const again = take("a", "refused");
    expect(await again).toBeNull();
    expect(stop.reason()?.code).toBe("APP_HTTP_401");
  });

  test("an owner that was asked lets another one go first", async () => {
    const { admission, stop, take } = opened();
    const late = (await admission.enter("late"))!;
    await take("a", "refused");
    const turns = [take("a", "good"), take("b", "refused"), take("c", "refused")];
    admission.leave(late);
    expect((await Promise.all(turns)).map((turn) => turn?.owner)).toEqual([undefined, "b", "c"]);
    expect(stop.reason()?.code).toBe("APP_HTTP_401");
  });

  test("a good call proves something to an owner's turn only when it began after that turn, and after its last failure", async () => {
    const { admission, call } = opened();
    const [one, other] = [(await admission.enter("a"))!, (await admission.enter("b"))!];
    const known = () => [admission.hasGoodSince(one), admission.hasGoodSince(other)];
    expect(known()).toEqual([false, false]);
    const beganAt = admission.begin(one);
    const late = (await admission.enter("c"))!;
    admission.record(one, { verdict: "good", code: null, beganAt });
    expect([...known(), admission.hasGoodSince(late)]).toEqual([true, true, false]);
    call(other, "may_heal");
    expect([...known(), admission.hasGoodSince(late)]).toEqual([true, false, false]);
    const [earlier, later] = [admission.begin(one), admission.begin(one)];
    call(other, "may_heal");
    admission.record(one, { verdict: "good", code: null, beganAt: later });
    expect([...known(), admission.hasGoodSince(late)]).toEqual([true, false, true]);
    call(one, "good");
    admission.record(one, { verdict: "good", code: null, beganAt: earlier });
    call(other, "lasting");
    expect([...known(), admission.hasGoodSince(late)]).toEqual([true, true, true]);
  });

  test("a run that stops lets nobody in, and wakes those who wait", async () => {
    const { stop, take, trip } = opened();
    await trip();
    const waiting = [take("a"), take("b")];
    stop.because({ code: "RUN_INTERRUPTED", message: "a signal" });
    expect(await Promise.all(waiting)).toEqual([null, null]);
    expect(await take("c")).toBeNull();
  });
});
