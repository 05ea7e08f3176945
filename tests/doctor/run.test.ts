import { describe, expect, test } from "bun:test";
import { openDoctorDependencies } from "../../cli/wiring/host/doctor.ts";
import type { Check } from "../../lib/doctor/context/check.ts";
import { fail, notSetUp, pass, warn } from "../../lib/doctor/finding.ts";
import { renderFindings } from "../../lib/doctor/render.ts";
import { runDoctor } from "../../lib/doctor/run.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";

/** Dependencies with which the time of every check runs out at once. */
function hurried() {
  return { ...openDoctorDependencies({ env: {}, envDir: "/nonexistent" }), wait: async () => {} };
}

/** The same with time that never runs out. */
function unhurried() {
  const wait = (_ms: number, signal: AbortSignal) =>
    new Promise<void>((end) => signal.addEventListener("abort", () => end(), { once: true }));
  return { ...hurried(), wait };
}

const check = (name: string, run: Check["run"]): Check => ({ command: "weekly", name, run });

describe("runDoctor()", () => {
  test("aborts a check whose time has run out", async () => {
    let seen: AbortSignal | undefined;
    const hangs = check("one", (_context, signal) => {
      seen = signal;
      return new Promise(() => {});
    });
    expect(await runDoctor(hurried(), [hangs])).toEqual([
      {
        command: "weekly",
        check: "one",
        status: "fail",
        code: "CHECK_TIMED_OUT",
        reason: "no answer within 4 s",
        mend: "See whether this host is too busy, or a disk hangs (one), then: opsctl doctor weekly --env-dir /nonexistent",
      },
    ]);
    expect(seen?.aborted).toBe(true);
  });

  test("keeps the order of the checks, whichever ends first", async () => {
    const first = Promise.withResolvers<void>();
    const findings = await runDoctor(unhurried(), [
      check("slow", async () => {
        await first.promise;
        return [pass("late")];
      }),
      check("quick", async () => {
        first.resolve();
        return [pass("early"), warn("RECIPIENTS_UNUSABLE", "and more", "mend it")];
      }),
    ]);
    expect(findings.map(({ reason }) => reason)).toEqual(["late", "early", "and more"]);
  });

  test("makes a finding of whatever a check throws, and repeats no foreign message", async () => {
    const thrown = [
      new OpsError({ code: "X_Y", message: "Cannot do it: it is broken\nmore", hint: "repair it" }),
      Object.assign(new Error("a secret in a message"), { code: "EACCES" }),
      new TypeError("a secret in a message"),
      "a secret as text",
    ];
    const findings = await runDoctor(
      unhurried(),
      thrown.map((error) => check("one", () => Promise.reject(error))),
    );
    expect(findings.map(({ status, code, reason, mend }) => [status, code, reason, mend])).toEqual([
      ["fail", "X_Y", "X_Y: it is broken", "repair it"],
      ["fail", "CHECK_FAILED", "the check broke off: EACCES", null],
      ["fail", "CHECK_FAILED", "the check broke off: TypeError", null],
      ["fail", "CHECK_FAILED", "the check broke off: unknown error", null],
    ]);
  });
});

describe("renderFindings()", () => {
  test("groups by command, and puts under each finding what mends it", () => {
    const text = renderFindings(
      [
        { command: "weekly", check: "one", ...pass("is well") },
        { command: "weekly", check: "two", ...warn("HEARTBEAT_STALE", "is old", "renew it") },
        { command: "migrate", check: "one", ...fail("CRON_MISSING", "is gone") },
        { command: "webhook", check: "one", ...notSetUp("a ping", "Set it") },
      ],
      NO_TERMINAL,
    );
    expect(text).toBe(
      [
        "weekly",
        "  ok    one: is well",
        "  warn  two: is old",
        "        -> renew it",
        "",
        "migrate",
        "  FAIL  one: is gone",
        "",
        "webhook",
        "  -     one: not set up: a ping",
        "        -> Set it",
        "",
        "1 ok, 1 warn, 1 FAIL, 1 not set up",
        "",
      ].join("\n"),
    );
  });
});
