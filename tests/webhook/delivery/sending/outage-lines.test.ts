/** What the log says while the state fails for long. */
import { expect, test } from "bun:test";
import type { State } from "../../../../lib/webhook/state/contract.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { startDispatcher } from "../../support/dispatcher-fixture.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";

/** A little more than a minute, so that the last line of three is due. */
const MINUTE_MS = 61_000;

/** What of the state fails, and what the log says of it and of its end. */
const FAILURES: [keyof State, string, string][] = [
  ["due", "The outbox cannot be read now", "The outbox can be read again"],
  ["begin", "Attempts cannot be recorded, so they are not made", "Attempts are recorded again"],
  ["hold", "Why alerts wait cannot be recorded yet", "Why alerts wait is recorded again"],
  ["prune", "Old rows could not be removed", "Old rows are removed again"],
];

test.each(FAILURES)(
  "%s that fails for 12 minutes is told three times, and that it is over",
  async (call, problem, over) => {
    const said: string[] = [];
    const say = (msg: string) => void said.push(msg);
    const fixture = await startDispatcher({ log: { ...silentLog, info: say, warn: say, error: say } });
    const whole = fixture.state[call];
    Object.assign(fixture.state, { [call]: () => Promise.reject(new Error("EIO")) });
    await fixture.accept(...(call === "hold" ? [] : [resolvedAlert()]));
    for (let minute = 0; minute < 12; minute += 1) {
      if (call === "hold") await fixture.dispatcher.hold("message", { code: "sem_instancia_gateway" });
      await fixture.advance(MINUTE_MS);
    }
    expect(said.filter((line) => line === problem)).toHaveLength(3);
    expect(said).not.toContain(over);
    Object.assign(fixture.state, { [call]: whole });
    await fixture.advance(2 * MINUTE_MS);
    expect(said.filter((line) => line === over)).toHaveLength(1);
    expect(fixture.phone).toHaveLength(call === "hold" ? 0 : 1);
    await fixture.close();
  },
);

test("a removal of old rows that the end of the service interrupts is no failure", async () => {
  const said: string[] = [];
  const say = (msg: string) => void said.push(msg);
  const fixture = await startDispatcher({ log: { ...silentLog, warn: say, error: say } });
  const interrupted = Promise.withResolvers<never>();
  const asked = Promise.withResolvers<void>();
  fixture.state.prune = () => {
    asked.resolve();
    return interrupted.promise;
  };
  // Old rows are looked for every hour at the latest.
  await fixture.advance(3_601_000);
  await asked.promise;
  const ended = fixture.dispatcher.stop(0);
  interrupted.reject(new Error("closed"));
  await ended;
  await fixture.close();
  expect(said).toEqual([]);
});
