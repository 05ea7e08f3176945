/** A failed Monday is heard: the run, its record for the next run, the webhook, and the phone behind it. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { Temporal } from "../../../lib/time/temporal.ts";
import { weekWindow } from "../../../lib/time/week-window.ts";
import { renderFiring } from "../../../lib/weekly/announce/render-alert.ts";
import { emailError } from "../../cases/email-answers.ts";
import { startAlertWebhook } from "../../standins/alert-webhook.ts";
import { startPing } from "../../standins/ping.ts";
import type { Scripted } from "../../standins/standin.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { freePort } from "../../support/free-port.ts";
import { MONDAY, seedOwner, setClock } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { SECRET } from "../../webhook/support/settings.ts";
import { failedWith, notReady, weekOf } from "../../weekly/announce/support.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import { opsctl, startProgram } from "../support/opsctl.ts";
import { openWebhookArena } from "../support/serve.ts";

const WEEK = "2026-11-16";
const NAME = "Relatório semanal falhou";
const fingerprintOf = (week: string) => createHash("md5").update(`opsctl-weekly\n${week}`).digest("hex");

const fileOf = ({ logDir }: Fixture) => join(logDir, LAST_RUN_FILE);
const read = (fixture: Fixture) => JSON.parse(readFileSync(fileOf(fixture), "utf8"));

/** Points the run at a webhook, with its secret in a file. */
function aim(fixture: Fixture, url: string, secret = SECRET): void {
  fixture.env.OPSCTL_ALERT_WEBHOOK = url;
  fixture.secret("WEBHOOK_SECRET", secret);
}

/** A fixture with one owner, and a webhook that its runs tell. */
async function openHeard() {
  const [fixture, webhook] = await Promise.all([openFixture(), startAlertWebhook(SECRET)]);
  aim(fixture, webhook.endpoint);
  const owner = await seedOwner(fixture.db.sql);
  const close = () => Promise.all([fixture[Symbol.asyncDispose](), webhook.stop()]);
  return { fixture, webhook, owner, [Symbol.asyncDispose]: async () => void (await close()) };
}

/** Starts a run and waits until it calls the application, which never answers. */
async function inTheMiddle(fixture: Fixture) {
  fixture.application.routes.analysis.script = () => "hang";
  const running = await fixture.start(["weekly", "--json"]);
  await until("the first call", () => fixture.application.routes.analysis.calls.length > 0);
  return running;
}

/** The ways in which a run ends. */
const ENDS = {
  success: (fixture: Fixture) => fixture.weekly(["--json"]),
  async failed(fixture: Fixture) {
    fixture.email.routes.send.next(emailError(422, "validation_error"));
    return await fixture.weekly(["--json"]);
  },
  async recipients(fixture: Fixture) {
    await fixture.db.sql`update users set email = null`;
    return await fixture.weekly(["--json"]);
  },
  not_ready: (fixture: Fixture) => fixture.weekly(["--json"], { env: { APP_BASE_URL: "" } }),
};

type Previous = (fixture: Fixture) => Promise<unknown> | unknown;
const failedBefore: Previous = (fixture) => ENDS.failed(fixture);

/** The record of the run before, how this run ends, what it posts, its own record, and the code in its log. */
type Case = {
  previous: string;
  prepare?: Previous;
  end: keyof typeof ENDS;
  posted: string[];
  record: object;
  logs?: string;
};

const announcement = { week: WEEK, fingerprint: fingerprintOf(WEEK) };
const ended = (announced: string) => ({ status: "success", announced, announcement: null });
const failed = { status: "failed", announced: "firing", announcement };
const first = { previous: "no record" };
const again = { previous: "an announced failure", prepare: failedBefore };
/** An announced failure whose record is changed then. */
const changed = (previous: string, change: (record: Record<string, unknown>) => object) => ({
  previous,
  prepare: async (fixture: Fixture) => {
    await ENDS.failed(fixture);
    writeFileSync(fileOf(fixture), JSON.stringify({ ...read(fixture), ...change(read(fixture)) }));
  },
});

const CASES: Case[] = [
  { ...first, end: "success", posted: [], record: ended("none") },
  { ...first, end: "failed", posted: ["firing"], record: failed },
  { ...first, end: "recipients", posted: ["warning"], record: failed },
  { ...first, end: "not_ready", posted: ["firing"], record: { begunAt: null, window: null } },
  { ...again, end: "success", posted: ["resolved"], record: ended("resolved") },
  { ...again, end: "failed", posted: ["firing"], record: failed },
  { ...again, end: "not_ready", posted: ["firing"], record: { begunAt: expect.any(String), window: null } },
  {
    ...changed("an announced failure, and a run that was killed", () => ({ status: "running" })),
    ...{ end: "success", posted: ["resolved"], record: ended("resolved") },
  },
  {
    ...changed("an announced failure, and a run that could not begin", () => ({
      ...{ status: "not_ready", window: null, week: null },
    })),
    ...{ end: "success", posted: ["resolved"], record: ended("resolved") },
  },
  {
    ...changed("an announced failure of another week", () => ({
      announcement: { ...announcement, week: "2026-11-09", startsAt: MONDAY },
    })),
    ...{ end: "success", posted: [], record: { status: "success", announced: "none" } },
  },
  {
    ...changed("an announced failure whose record is larger than 64 KiB", () => ({
      padding: "x".repeat(65_536),
    })),
    ...{ end: "success", posted: [], record: ended("none"), logs: "LAST_RUN_UNREADABLE" },
  },
  ...["{", '{"status":"success"}'].map(
    (text): Case => ({
      previous: `a file that holds ${JSON.stringify(text.slice(0, 20))}`,
      prepare: (fixture) => writeFileSync(fileOf(fixture), text),
      ...{ end: "success", posted: [], record: ended("none"), logs: "LAST_RUN_UNREADABLE" },
    }),
  ),
  {
    previous: "a link to another file",
    async prepare(fixture) {
      await ENDS.failed(fixture);
      const target = join(fixture.folder, "target");
      renameSync(fileOf(fixture), target);
      symlinkSync(target, fileOf(fixture));
    },
    ...{ end: "success", posted: [], record: ended("none"), logs: "LAST_RUN_UNREADABLE" },
  },
];

describe.concurrent("the announcement of a run's end", () => {
  test.each(CASES)(
    "a run that ends as $end after $previous posts $posted",
    async ({ prepare, end, posted, record, logs }) => {
      await using heard = await openHeard();
      const { fixture, webhook } = heard;
      await prepare?.(fixture);
      await setClock(fixture.db.sql, "2026-11-23T11:30:00Z");
      const before = webhook.routes.alerts.calls.length;
      const seen: unknown[] = [];
      webhook.routes.alerts.script = () => void seen.push(read(fixture));

      const { summary, stderr, stdout, exitCode } = await ENDS[end](fixture);

      expect(webhook.posted().slice(before), stderr).toEqual(posted);
      const wanted = { success: 0, failed: 1, recipients: 1, not_ready: 3 }[end];
      expect([exitCode, summary.exitCode]).toEqual([wanted, wanted]);
      expect(read(fixture)).toMatchObject({ ...record, runId: summary.runId, announced: summary.announced });
      expect(lstatSync(fileOf(fixture)).mode).toBe(0o100644);
      expect(/"code":"(LAST_RUN_\w+)"/.exec(stderr)?.[1]).toBe(logs);
      // What is posted is recorded before: a kill meanwhile leaves verdict and announcement.
      const status = end === "recipients" ? "failed" : end;
      for (const meanwhile of seen) expect(meanwhile).toMatchObject({ status, announcement: {} });
      const bodies = webhook.routes.alerts.calls.map(({ body }) => body as Record<string, unknown>);
      if (end !== "not_ready" && posted.length > 0) {
        expect(bodies.at(-1)).toMatchObject({
          fingerprint: fingerprintOf(WEEK),
          startsAt: bodies[0]!.startsAt,
        });
      }
      expect(stderr + stdout + readFileSync(fileOf(fixture), "utf8")).not.toContain(SECRET);
    },
  );

  test("a failed run is announced even if a directory is in its record's place, or there is no log directory", async () => {
    await using heard = await openHeard();
    const { fixture, webhook } = heard;
    mkdirSync(fileOf(fixture));
    const blocked = await ENDS.failed(fixture);
    expect(blocked.summary.announced).toBe("firing");
    for (const code of ["LAST_RUN_UNREADABLE", "LAST_RUN_UNWRITABLE"])
      expect(blocked.stderr.split(code)).toHaveLength(2);
    expect(readdirSync(fileOf(fixture))).toEqual([]);
    fixture.env.OPSCTL_LOG_DIR = join(fixture.folder, "missing");
    expect((await ENDS.failed(fixture)).summary.announced).toBe("firing");
    expect(existsSync(fixture.env.OPSCTL_LOG_DIR)).toBe(false);
    expect(webhook.posted()).toEqual(["firing", "firing"]);
  });

  test("the alert of a run that could not begin names the last week by the host's clock, and doctor", async () => {
    await using heard = await openHeard();
    const { fixture, webhook } = heard;
    const { week } = weekWindow(Temporal.Now.instant());
    fixture.secret("DATABASE_URL", `postgres://postgres@127.0.0.1:${await freePort()}/none?sslmode=bad`);
    const { summary } = await fixture.weekly(["--json"]);
    expect(summary).toMatchObject({ exitCode: 3, announced: "firing" });
    expect(read(fixture)).toMatchObject({ announcement: { week, fingerprint: fingerprintOf(week) } });
    const body = webhook.routes.alerts.calls[0]!.body as { annotations: { description: string } };
    expect(body).toMatchObject({ labels: { week }, fingerprint: fingerprintOf(week) });
    expect(body.annotations.description).toContain("sudo opsctl doctor weekly");
  });
});

describe.concurrent("a failed Monday", () => {
  test("reaches the ping, and so does a good one; a dry run does not", async () => {
    await using fixture = await openFixture();
    const check = await startPing();
    fixture.env.OPSCTL_PING_URL = `${check.url}/canary-uuid`;
    await seedOwner(fixture.db.sql);
    await fixture.weekly(["--json", "--dry-run"]);
    expect(check.pings).toEqual([]);
    const ended = [await ENDS.failed(fixture), await ENDS.success(fixture)];
    expect(ended.map(({ summary }) => summary.status)).toEqual(["failed", "success"]);
    expect(check.pings).toEqual(["fail", "well"]);
    // A ping that fails, or cannot be used, is said and changes nothing.
    check.routes.ping.script = () => ({ status: 500 });
    const failing = await ENDS.success(fixture);
    fixture.env.OPSCTL_PING_URL = "ftp://hc.example/canary-uuid";
    const unusable = await ENDS.success(fixture);
    expect([failing.exitCode, unusable.exitCode]).toEqual([0, 0]);
    expect(failing.stderr).toContain("The ping of OPSCTL_PING_URL fails");
    expect(unusable.stderr).toContain("CONFIG_INVALID");
    for (const { stdout, stderr } of [...ended, failing, unusable])
      expect(stdout + stderr).not.toContain("canary-uuid");
    await check.stop();
  });

  test("is heard through opsctl's own webhook for each failed run, and its end once", async () => {
    await using fixture = await openFixture();
    await using arena = await openWebhookArena();
    aim(fixture, (await arena.start()).url);
    await seedOwner(fixture.db.sql);
    const texts = () => arena.gateway.accepted.map(({ text }) => text);

    const first = await ENDS.failed(fixture);
    expect(first.summary, first.stderr).toMatchObject({ status: "failed", exitCode: 1, announced: "firing" });
    await until("the message", () => texts().length === 1);
    for (const part of [`*${NAME}*`, "1 não enviado", "validation_error", "até a meia-noite de 23/11"])
      expect(texts()[0]).toContain(part);
    expect(arena.tracker.issues.map(({ title }) => title)).toEqual([`[ALERTA][infra] ${NAME}`]);

    await ENDS.failed(fixture);
    await until("the second message", () => texts().length === 2);
    expect((await ENDS.success(fixture)).summary).toMatchObject({ announced: "resolved" });
    await until("the message of its end", () => texts().length === 3);
    expect(texts()[2]).toContain("\nResolvido · ");
    expect((await ENDS.success(fixture)).summary).toMatchObject({ announced: "none" });
    expect([texts().length, arena.tracker.issues.length]).toEqual([3, 1]);
  });
});

/** What may be wrong with the webhook: the cause in the log, and whether the alert may have been taken. */
const TROUBLES: [name: string, answer: Scripted | string, cause: string, mayBeTaken: boolean][] = [
  ["is down", "http://127.0.0.1:1/webhook", "unreachable", false],
  ["is named by what is no address", "127.0.0.1:9300/webhook", "CONFIG_INVALID", false],
  ["refuses the secret", { status: 401, json: {} }, "http_401", false],
  ["is full", { status: 503, json: {} }, "http_503", false],
  ["breaks down", { status: 500, text: "<html>" }, "http_500", true],
  ["takes it and drops the connection", { accept: "drop" }, "connection_lost", true],
  [
    "names another alert",
    { status: 200, json: { alerts: [{ fingerprint: "x" }] } },
    "answer_unreadable",
    true,
  ],
  ["never answers", "hang", "timeout", true],
];

describe.concurrent("an alert webhook in trouble", () => {
  test.each(TROUBLES)(
    "a webhook that %s leaves the run its own exit status, and the summary says so",
    async (_name, answer, cause, mayBeTaken) => {
      await using heard = await openHeard();
      const { fixture, webhook } = heard;
      if (typeof answer === "string" && answer.includes("127.0.0.1")) aim(fixture, answer);
      else webhook.routes.alerts.script = () => answer as Scripted;

      const { summary, exitCode, stderr } = await ENDS.failed(fixture);

      expect([exitCode, summary.status, summary.announced]).toEqual([1, "failed", "failed"]);
      expect(stderr).toContain(`"code":"ANNOUNCE_FAILED","cause":"${cause}"`);
      expect(read(fixture)).toMatchObject({ status: "failed", announced: "failed" });
      expect(read(fixture).announcement === null).toBe(!mayBeTaken);
      // Only what provably was not taken and may be over soon is tried again.
      if (cause.startsWith("http")) expect(webhook.posted().length > 1).toBe(cause === "http_503");
    },
  );

  test("a webhook that is full for a moment takes the alert a moment later; one that refuses is called by the next run", async () => {
    await using heard = await openHeard();
    const { fixture, webhook } = heard;
    webhook.routes.alerts.next({ status: 503 });
    expect((await ENDS.failed(fixture)).summary.announced).toBe("firing");
    expect(webhook.posted()).toEqual(["firing", "firing"]);
    const held = read(fixture).announcement;
    webhook.routes.alerts.script = () => ({ status: 401 });
    expect((await ENDS.success(fixture)).summary.announced).toBe("failed");
    expect(read(fixture).announcement).toEqual(held);
    webhook.routes.alerts.script = null;
    expect((await ENDS.success(fixture)).summary.announced).toBe("resolved");
  });

  test("a secret that is only in the webhook's environment file is found by the run", async () => {
    await using heard = await openHeard();
    const { fixture } = heard;
    rmSync(join(fixture.secretsDir, "WEBHOOK_SECRET"));
    const file = join(fixture.folder, "webhook.env");
    writeFileSync(file, `WEBHOOK_SECRET=${SECRET}\n`, { mode: 0o600 });
    fixture.env.OPSCTL_WEBHOOK_ENV_FILE = file;
    expect((await ENDS.failed(fixture)).summary).toMatchObject({ status: "failed", announced: "firing" });
    // Without it the dry run says what is wrong before Monday does.
    rmSync(file);
    const { summary } = await fixture.weekly(["--dry-run", "--json"]);
    expect(summary).toMatchObject({ exitCode: 3, error: { code: "CONFIG_INVALID" } });
    expect(summary.error!.message).toContain("WEBHOOK_SECRET");
    expect((await ENDS.success(fixture)).summary).toMatchObject({ status: "success", announced: "failed" });
  });
});

describe.concurrent("a run that proves nothing about the week", () => {
  test("a run that leaves something out, or is refused on another day, is neither announced nor recorded", async () => {
    await using heard = await openHeard();
    const { fixture, webhook, owner } = heard;
    await fixture.db.sql`update users set email = null`;
    const flags = [["--dry-run"], ["--tenant", owner.tenantId], ["--skip-whatsapp"], ["--skip-editorials"]];
    for (const args of flags) {
      const { summary } = await fixture.weekly(["--json", ...args]);
      expect([args, summary.status === "success", summary.announced]).toEqual([args, false, "none"]);
      expect(existsSync(fileOf(fixture))).toBe(false);
    }
    await ENDS.recipients(fixture);
    const before = readFileSync(fileOf(fixture), "utf8");
    await setClock(fixture.db.sql, "2026-11-24T12:00:00Z");
    const { summary } = await fixture.weekly(["--json"]);
    expect(summary).toMatchObject({ status: "refused", exitCode: 4, announced: "none" });
    expect(readFileSync(fileOf(fixture), "utf8")).toBe(before);
    expect(webhook.posted()).toEqual(["warning"]);
  });
});

describe.concurrent("a run that does not end well", () => {
  test("a killed run leaves `running`, and the collector shows it", async () => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    const running = await inTheMiddle(fixture);
    running.kill("SIGKILL");
    await running.ended;
    expect(read(fixture)).toMatchObject({ status: "running", window: { week: WEEK }, finishedAt: null });
    const { stdout } = await fixture.opsctl(["collect-metrics", "--stdout"]);
    expect(stdout).toContain("\nweekly_report_running 1\n");
    expect(stdout).toContain(
      `\nweekly_report_last_run_timestamp_seconds ${Date.parse(read(fixture).begunAt) / 1000}\n`,
    );
    expect(stdout).not.toContain("weekly_report_last_run_success");
    expect(stdout).not.toContain("weekly_report_open_deliveries");
  });

  test("a run ended by a signal is recorded and announced", async () => {
    await using heard = await openHeard();
    const { fixture } = heard;
    const running = await inTheMiddle(fixture);
    running.kill("SIGTERM");
    const { summary } = await running.ended;
    const interrupted = { status: "failed", error: { code: "RUN_INTERRUPTED" }, announced: "firing" };
    expect(summary).toMatchObject(interrupted);
    expect(read(fixture)).toMatchObject(interrupted);
  });

  test("a run ended by a signal calls a webhook that is full twice in four seconds, not for ten", async () => {
    await using heard = await openHeard();
    const { fixture, webhook } = heard;
    webhook.routes.alerts.script = () => ({ status: 503 });
    const running = await inTheMiddle(fixture);
    running.kill("SIGTERM");
    expect((await running.ended).summary).toMatchObject({ announced: "failed" });
    expect(webhook.posted()).toEqual(["firing", "firing"]);
  });

  test("a run on a full disk is announced, and leaves no half of a file", async () => {
    await using heard = await openHeard();
    const { fixture } = heard;
    const script = 'trap "" XFSZ; ulimit -f 0; exec "$0" weekly --json';
    const program = ["/bin/sh", "-c", script, await opsctlBinary()];
    const ended = await startProgram(program, { env: fixture.env }).ended;
    expect(ended.summary).toMatchObject({ exitCode: 1, heartbeat: "failed", announced: "firing" });
    expect(ended.stderr).toContain('"code":"LAST_RUN_UNWRITABLE"');
    expect(readdirSync(fixture.logDir)).toEqual(["weekly_performance_reports.success"]);
  });

  test("a run that leaves reports to another process ends with 1 and is not announced", async () => {
    await using heard = await openHeard();
    const { fixture, webhook } = heard;
    const first = await inTheMiddle(fixture);
    const second = await fixture.weekly(["--json"], { env: { OPSCTL_LOG_DIR: fixture.folder } });
    const busy = { exitCode: 1, announced: "none", reports: { busy: 1 } };
    expect(second.summary, second.stderr).toMatchObject(busy);
    first.kill("SIGKILL");
    await first.ended;
    expect(webhook.posted()).toEqual([]);
  });
});

test("the commands that the alert shows are opsctl's, and take what it gives them", async () => {
  const week = weekOf({ email: { unknown: 1 } });
  const summaries = [failedWith([], { week }), notReady("DATABASE_UNREACHABLE")];
  const facts = { severity: "critical", week: WEEK, host: "vps-1", startsAt: MONDAY, at: MONDAY } as const;
  const lines = summaries.flatMap((summary) =>
    renderFiring({ ...facts, summary }).annotations.description.split("\n"),
  );
  const commands = lines.map(
    (line) => /\bopsctl ((?:reports|deliveries|doctor|weekly)\b[^']*)/.exec(line)![1]!,
  );
  expect(new Set(commands.map((command) => command.split(" ")[0]))).toEqual(
    new Set(["reports", "deliveries", "weekly", "doctor"]),
  );
  for (const command of new Set(commands)) {
    const nowhere = { OPSCTL_SECRETS_DIR: "/nowhere", OPSCTL_LOG_DIR: "/nowhere" };
    // Without settings each of them is not ready, and none is misused.
    expect([command, (await opsctl(command.split(" "), { env: nowhere })).exitCode]).toEqual([command, 3]);
  }
});

test("deliveries reconcile brings what is open up to date, and not how the run ended", async () => {
  await using fixture = await openFixture();
  await seedOwner(fixture.db.sql);
  fixture.email.routes.send.next({ accept: "drop" });
  const { summary } = await fixture.weekly(["--json"]);
  expect(read(fixture)).toMatchObject({
    status: "failed",
    announced: "off",
    week: { email: { unknown: 1, sent: 0 } },
  });
  const { deliveryId } = summary.failures[0]!;
  const args = [
    deliveryId!,
    "--to",
    "sent",
    "--provider-message-id",
    "found-1",
    "--reason",
    "seen in the provider's log",
  ];
  const reconciled = await fixture.opsctl(["deliveries", "reconcile", ...args, "--json"]);
  expect(reconciled.exitCode, reconciled.stderr).toBe(0);
  expect(read(fixture)).toMatchObject({ status: "failed", week: { email: { unknown: 0, sent: 1 } } });
  expect((await fixture.opsctl(["collect-metrics", "--stdout"])).stdout).toContain(
    '\nweekly_report_open_deliveries{channel="email",state="unknown"} 0\n',
  );
});
