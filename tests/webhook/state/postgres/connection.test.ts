/** How the connections of the state are given up, opened anew and asked again; what they lead to is played. */
import { afterEach, describe, expect, test } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../../../lib/platform/database/pool.ts";
import { type CallOptions, StateLink } from "../../../../lib/webhook/state/postgres/connection.ts";
import { until } from "../../../support/until.ts";

/** Far longer than a test takes, however busy the machine is. */
const LONG_MS = 600_000;

let opened: number;
let closed: number;
let link: StateLink;
afterEach(() => link.close());

function database(): Database {
  return {
    sql: Object.assign(() => {}) as unknown as Database["sql"],
    prepares: true,
    renew() {},
    async close() {
      await delay(1);
      closed += 1;
    },
  };
}

/** A link that begins with open connections, which are older than any call. */
function start(limitMs = LONG_MS): void {
  [opened, closed] = [0, 0];
  const open = async () => {
    opened += 1;
    return database();
  };
  link = new StateLink(database(), open, limitMs);
}

const answer = (code: string) => Object.assign(new Error(code), { code, severity: "ERROR" });
const lost = () => Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });

/** Asks for what fails in these ways, one after the other, and then does not; how often it was asked. */
async function ask(failures: Error[], options?: CallOptions): Promise<{ asked: number; end: unknown }> {
  let asked = 0;
  const work = async () => {
    asked += 1;
    const failure = failures[asked - 1];
    if (failure !== undefined) throw failure;
    return "done";
  };
  const end = await link.ask("try", work, options).catch((error: { code: string }) => error.code);
  return { asked, end };
}

describe("StateLink", () => {
  test("gives up connections that take no writes, but not those that it has just opened", async () => {
    start();
    await ask([answer("25006")]);
    expect(opened).toBe(0);
    for (let more = 0; more < 3; more += 1) await ask([answer("25006")]);
    expect(opened).toBe(1);
    await link.close();
    expect(closed).toBe(2);
  });

  test("keeps old connections that give any other answer", async () => {
    start();
    for (const code of ["23505", "42501", "53100"]) await ask([answer(code)]);
    await ask([lost()]);
    expect(await ask([])).toEqual({ asked: 1, end: "done" });
    expect(opened).toBe(0);
  });

  test.each(["40001", "40P01"])("asks again what was rolled back with %s", async (code) => {
    start();
    expect(await ask([answer(code), answer(code)])).toEqual({ asked: 3, end: "done" });
  });

  test("asks again after a lost connection only what is done once when it is asked for twice", async () => {
    start();
    expect(await ask([lost()])).toEqual({ asked: 1, end: "DATABASE_LOST" });
    expect(await ask([lost(), lost()], { repeats: true })).toEqual({ asked: 3, end: "done" });
  });

  test("says what has kept failing when the time is over between two attempts", async () => {
    start();
    // Half a pause.
    const options = { repeats: true, limitMs: 50 };
    expect(await ask(Array.from({ length: 9 }, lost), options)).toEqual({ asked: 1, end: "DATABASE_LOST" });
  });

  test("does not ask again for what the database refuses", async () => {
    start();
    expect((await ask([answer("42501")], { repeats: true })).asked).toBe(1);
  });

  test("gives a large call more time", async () => {
    start();
    const slow = async () => await delay(20, "done");
    expect(await link.ask("try", slow, { limitMs: 1, moreMs: LONG_MS })).toBe("done");
  });

  test("gives up connections that have not answered in time, and asks others from then on", async () => {
    start();
    const never = () => new Promise<never>(() => {});
    await expect(link.ask("try", never, { limitMs: 1 })).rejects.toMatchObject({ code: "DATABASE_TIMEOUT" });
    expect(await ask([])).toEqual({ asked: 1, end: "done" });
    await until("the connections are closed", () => closed === 1);
    expect(opened).toBe(1);
  });

  test("opens again what could not be opened", async () => {
    [opened, closed] = [0, 0];
    const open = async () => {
      opened += 1;
      if (opened === 1) throw lost();
      return database();
    };
    link = new StateLink(null, open, LONG_MS);
    expect(await ask([])).toEqual({ asked: 0, end: "DATABASE_LOST" });
    expect(await ask([])).toEqual({ asked: 1, end: "done" });
    expect(opened).toBe(2);
  });

  test("asks nothing once it is closed", async () => {
    start();
    await link.close();
    expect(await ask([])).toEqual({ asked: 0, end: "DATABASE_LOST" });
    expect([opened, closed]).toEqual([0, 1]);
  });
});
