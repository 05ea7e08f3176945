import { describe, expect, test } from "bun:test";
import { HoldMemory } from "../../../../lib/webhook/delivery/sending/hold-memory.ts";
import type { OutboxKind } from "../../../../lib/webhook/state/contract.ts";

const CODE = "gateway_unauthorized";

function opened() {
  const recorded: (string | null)[] = [];
  const logged: string[] = [];
  const say = (text: string) => logged.push(text);
  const answers = { hold: (): Promise<void> => Promise.resolve() };
  const memory = new HoldMemory({
    kind: "message",
    state: {
      async hold(_kind: OutboxKind, code: string | null) {
        await answers.hold();
        recorded.push(code);
      },
    },
    log: { debug: say, info: say, warn: say, error: say },
    monotonicMs: () => 0,
  });
  return { memory, recorded, logged, answers };
}

describe("HoldMemory", () => {
  test("records what the state does not have, once, and at first whatever it is told", async () => {
    const { memory, recorded, logged } = opened();
    for (const code of [null, null, CODE, CODE, null]) await memory.note(code);
    expect(recorded).toEqual([null, CODE, null]);
    expect(logged).toEqual([]);
  });

  test("does not record what an earlier process left there", async () => {
    const { memory, recorded } = opened();
    memory.recall(CODE);
    await memory.note(CODE);
    expect(recorded).toEqual([]);
    await memory.note(null);
    expect(recorded).toEqual([null]);
  });

  test("records later what the state did not take, and says so once", async () => {
    const { memory, recorded, logged, answers } = opened();
    answers.hold = () => Promise.reject(new Error("disk full"));
    for (let times = 0; times < 3; times += 1) await memory.note(CODE);
    answers.hold = () => Promise.resolve();
    await memory.note(CODE);
    expect(recorded).toEqual([CODE]);
    expect(logged).toEqual(["Why alerts wait cannot be recorded yet", "Why alerts wait is recorded again"]);
  });

  test("what is noted while another code is being recorded is there when that call ends", async () => {
    const { memory, recorded, answers } = opened();
    const slow = Promise.withResolvers<void>();
    answers.hold = () => slow.promise;
    const calls = [memory.note(CODE), memory.note(CODE), memory.note(null), memory.note(null)];
    answers.hold = () => Promise.resolve();
    slow.resolve();
    await Promise.all(calls);
    expect(recorded).toEqual([CODE, null]);
  });

  test("the code that is noted last is there in the end, also when it is the one that is being recorded", async () => {
    const { memory, recorded, answers } = opened();
    const slow = Promise.withResolvers<void>();
    answers.hold = () => slow.promise;
    const calls = [CODE, "sem_instancia_gateway", CODE].map((code) => memory.note(code));
    answers.hold = () => Promise.resolve();
    slow.resolve();
    await Promise.all(calls);
    expect(recorded.at(-1)).toBe(CODE);
  });

  test("of what cannot be recorded no more is tried than each code once", async () => {
    const { memory, recorded, answers } = opened();
    let tries = 0;
    answers.hold = () => {
      tries += 1;
      return Promise.reject(new Error("disk full"));
    };
    await Promise.all([CODE, CODE, null, null, null].map((code) => memory.note(code)));
    expect([tries, recorded]).toEqual([2, []]);
  });
});
