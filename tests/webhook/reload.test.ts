import { describe, expect, test } from "bun:test";
import { OpsError } from "../../lib/platform/errors.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import type { StateConfig, WebhookConfig } from "../../lib/webhook/config.ts";
import { needRestart } from "../../lib/webhook/need-restart.ts";
import { Reloader } from "../../lib/webhook/reload.ts";

/** A reloader whose readings end when the test says so. */
function arena() {
  const said: unknown[] = [];
  const note = (level: string) => (msg: string, fields?: object) =>
    void said.push([level, msg, fields ?? {}]);
  const log: Log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  const readings: PromiseWithResolvers<string>[] = [];
  const applied: string[] = [];
  let probes = 0;
  const reloader = new Reloader<string>(log);
  return {
    reloader,
    readings,
    applied,
    said,
    get probes() {
      return probes;
    },
    start: () =>
      reloader.start({
        load() {
          const reading = Promise.withResolvers<string>();
          readings.push(reading);
          return reading.promise;
        },
        apply: (settings) => void applied.push(settings),
        afterwards: () => {
          probes += 1;
        },
      }),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("Reloader", () => {
  test("puts what it read in force, then tells the dispatcher", async () => {
    const at = arena();
    at.start();
    at.reloader.request();
    at.readings[0]!.resolve("new");
    await turn();
    expect(at.applied).toEqual(["new"]);
    expect(at.probes).toBe(1);
  });

  test("reads nothing that nobody asked for", async () => {
    const at = arena();
    at.start();
    await turn();
    expect(at.readings).toHaveLength(0);
  });

  test("does after the start what was asked for before it, once", async () => {
    const at = arena();
    at.reloader.request();
    at.reloader.request();
    await turn();
    expect(at.readings).toHaveLength(0);
    at.start();
    at.readings[0]!.resolve("new");
    await turn();
    expect([at.readings.length, at.applied]).toEqual([1, ["new"]]);
  });

  test("reads once more when asked during a reading, however often, and never twice at once", async () => {
    const at = arena();
    at.start();
    for (let asked = 0; asked < 5; asked += 1) at.reloader.request();
    expect(at.readings).toHaveLength(1);
    at.readings[0]!.resolve("first");
    await turn();
    expect(at.readings).toHaveLength(2);
    at.readings[1]!.resolve("second");
    await turn();
    expect([at.readings.length, at.applied]).toEqual([2, ["first", "second"]]);
  });

  test("takes nothing of wrong settings, names them, and takes the next ones", async () => {
    const at = arena();
    at.start();
    at.reloader.request();
    const wrong = new OpsError({
      code: "CONFIG_INVALID",
      message: "MESSAGING_PHONE: is missing",
      hint: "Set it",
    });
    at.readings[0]!.reject(wrong);
    await turn();
    expect([at.applied, at.probes]).toEqual([[], 0]);
    expect(at.said).toEqual([
      [
        "error",
        "The settings were read again and not taken: the old ones stay",
        { code: "CONFIG_INVALID", problem: "MESSAGING_PHONE: is missing", hint: "Set it" },
      ],
    ]);
    at.reloader.request();
    at.readings[1]!.resolve("right");
    await turn();
    expect(at.applied).toEqual(["right"]);
  });

  test("an unexpected failure is told by its kind alone", async () => {
    const at = arena();
    at.start();
    at.reloader.request();
    at.readings[0]!.reject(new TypeError("canary"));
    await turn();
    expect(at.said).toEqual([["error", expect.any(String), { cause: "TypeError" }]]);
  });

  test("reads nothing and takes nothing after the stop", async () => {
    const at = arena();
    at.start();
    at.reloader.request();
    at.reloader.request();
    at.reloader.stop();
    at.readings[0]!.resolve("late");
    await turn();
    at.reloader.request();
    await turn();
    expect([at.readings.length, at.applied, at.probes]).toEqual([1, [], 0]);
  });

  test("a stop before the start reads nothing", async () => {
    const at = arena();
    at.reloader.request();
    at.reloader.stop();
    at.start();
    await turn();
    expect(at.readings).toHaveLength(0);
  });
});

describe("needRestart()", () => {
  const reading = (state: StateConfig, env: Record<string, string> = {}, comments = false) => ({
    config: { state, tracker: { comments } } as WebhookConfig,
    env,
  });
  const file = { directory: "/var/lib/opsctl" };
  const url = (text: string) => ({ url: new Secret(text) });

  test.each([
    ["nothing", reading(file), reading({ ...file }), []],
    ["another directory", reading(file), reading({ directory: "/srv" }), ["OPSCTL_STATE_DIR"]],
    [
      "another database",
      reading(url("postgres://a/b")),
      reading(url("postgres://a/c")),
      ["OPSCTL_STATE_URL"],
    ],
    ["the same database", reading(url("postgres://a/b")), reading(url("postgres://a/b")), []],
    [
      "from file to database",
      reading(file),
      reading(url("postgres://a/b")),
      ["OPSCTL_STATE_DIR", "OPSCTL_STATE_URL"],
    ],
    ["comments turned on", reading(file), reading(file, {}, true), ["ISSUE_TRACKER_COMMENTS"]],
    ["another level", reading(file), reading(file, { OPSCTL_LOG_LEVEL: "debug" }), ["OPSCTL_LOG_LEVEL"]],
    ["a blank level", reading(file, { OPSCTL_LOG_LEVEL: " " }), reading(file), []],
    ["a proxy gone", reading(file, { HTTPS_PROXY: "http://p" }), reading(file), ["HTTPS_PROXY"]],
    [
      "what changes at once",
      reading(file, { MESSAGING_PHONE: "1" }),
      reading(file, { MESSAGING_PHONE: "2" }),
      [],
    ],
  ])("names %s", (_what, before, after, expected) => {
    expect(needRestart(before, after)).toEqual(expected as string[]);
  });
});
