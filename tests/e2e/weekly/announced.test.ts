/** A failed Monday is heard: the run, opsctl's own webhook as a process, and the phone behind it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LAST_RUN_FILE } from "../../../lib/last-run/file-name.ts";
import { Temporal } from "../../../lib/time/temporal.ts";
import { weekWindow } from "../../../lib/time/week-window.ts";
import { renderFiring } from "../../../lib/weekly/announce/render-alert.ts";
import { startPing } from "../../standins/ping.ts";
import { startRawPeer, startSilentPeer } from "../../standins/raw-peer.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { freePort } from "../../support/free-port.ts";
import { MONDAY, seedOwner, setClock } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { failedWith, notReady, weekOf } from "../../weekly/announce/support.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";
import { opsctl, startProgram } from "../support/opsctl.ts";
import { openWebhookArena, SECRET } from "../support/webhook-process.ts";

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

/** One webhook for the runs of which it is told nothing, and one for those where only the telling counts. */
let unheard: Awaited<ReturnType<typeof openWebhookArena>>;
let heard: typeof unheard;
let unheardUrl: string;
let heardUrl: string;
beforeAll(async () => {
  [unheard, heard] = await Promise.all([openWebhookArena(), openWebhookArena()]);
  [{ url: unheardUrl }, { url: heardUrl }] = await Promise.all([unheard.start(), heard.start()]);
});
afterAll(async () => {
  await Promise.all([unheard, heard].map((arena) => arena[Symbol.asyncDispose]()));
});

describe.concurrent("a failed Monday", () => {
  test("is told to the ping, and so is a good one; a dry run is not", async () => {
    await using fixture = await openFixture();
    const check = await startPing();
    fixture.env.OPSCTL_PING_URL = `${check.url}/canary-uuid`;
    await seedOwner(fixture.db.sql);
    await fixture.weekly(["--json", "--dry-run"]);
    expect(check.pings).toEqual([]);
    fixture.email.routes.send.next({ status: 422, json: { name: "validation_error" } });
    const failed = await fixture.weekly(["--json"]);
    expect([failed.summary.status, check.pings]).toEqual(["failed", ["fail"]]);
    const good = await fixture.weekly(["--json"]);
    expect([good.summary.status, check.pings]).toEqual(["success", ["fail", "well"]]);
    for (const { stdout, stderr } of [failed, good]) expect(stdout + stderr).not.toContain("canary-uuid");
    await check.stop();
  });

  test("is heard for each failed run, and its end once", async () => {
    await using fixture = await openFixture();
    await using arena = await openWebhookArena();
    const service = await arena.start();
    aim(fixture, service.url);
    await seedOwner(fixture.db.sql);
    const texts = () => arena.gateway.accepted.map(({ text }) => text);

    fixture.email.routes.send.next({ status: 422, json: { name: "validation_error" } });
    const first = await fixture.weekly(["--json"]);
    expect(first.summary, first.stderr).toMatchObject({ status: "failed", exitCode: 1, announced: "firing" });
    await until("the message", () => texts().length === 1);
    expect(texts()[0]).toContain(`*${NAME}*`);
    expect(texts()[0]).toContain("1 não enviado");
    expect(texts()[0]).toContain("validation_error");
    expect(texts()[0]).toContain("até a meia-noite de 23/11");
    expect(arena.tracker.issues.map(({ title }) => title)).toEqual([`[ALERTA][infra] ${NAME}`]);
    expect(read(fixture)).toMatchObject({
      status: "failed",
      runId: first.summary.runId,
      announced: "firing",
      week: { email: { failed: 1 } },
      announcement: { week: WEEK, fingerprint: fingerprintOf(WEEK) },
    });
    expect(statSync(fileOf(fixture)).mode & 0o777).toBe(0o644);

    fixture.email.routes.send.next({ status: 422, json: { name: "validation_error" } });
    const second = await fixture.weekly(["--json"]);
    expect(second.summary).toMatchObject({ status: "failed", announced: "firing" });
    await until("the second message", () => texts().length === 2);

    const third = await fixture.weekly(["--json"]);
    expect(third.summary, third.stderr).toMatchObject({ status: "success", announced: "resolved" });
    await until("the message of its end", () => texts().length === 3);
    expect(texts()[2]).toContain("\nResolvido · ");
    expect(arena.tracker.issues).toHaveLength(1);
    expect(read(fixture)).toMatchObject({ status: "success", announced: "resolved", announcement: null });

    const fourth = await fixture.weekly(["--json"]);
    expect(fourth.summary).toMatchObject({ status: "success", announced: "none" });
    expect(texts()).toHaveLength(3);
    for (const { stderr, stdout } of [first, second, third, fourth])
      expect(stderr + stdout + readFileSync(fileOf(fixture), "utf8")).not.toContain(SECRET);
  });

  test("could be heard, says the doctor, who tells the webhook nothing", async () => {
    await using fixture = await openFixture();
    await using arena = await openWebhookArena();
    const service = await arena.start();
    aim(fixture, service.url);
    const found = async () => (await fixture.opsctl(["doctor", "weekly"])).stdout;
    expect(await found()).toContain("ok    alert webhook: the webhook answers and takes the secret\n");
    expect(service.log()).not.toContain("refused");
    aim(fixture, service.url, "another-secret-0123456789");
    expect(await found()).toMatch(/FAIL {2}alert webhook: ANNOUNCE_FAILED: .*http_401/);
    expect(arena.gateway.accepted).toEqual([]);
  });

  test("is heard when the run cannot even read its settings, or reach the database", async () => {
    await using fixture = await openFixture();
    await using arena = await openWebhookArena();
    const service = await arena.start();
    aim(fixture, service.url);
    const { week } = weekWindow(Temporal.Now.instant());

    const unset = await fixture.weekly(["--json"], { env: { APP_BASE_URL: "" } });
    expect(unset.summary).toMatchObject({
      status: "not_ready",
      exitCode: 3,
      announced: "firing",
      error: { code: "CONFIG_INVALID" },
    });
    expect(read(fixture)).toMatchObject({
      status: "not_ready",
      begunAt: null,
      error: { code: "CONFIG_INVALID" },
      announcement: { week, fingerprint: fingerprintOf(week) },
    });

    // One without TLS, which no waiting mends.
    const database = await startRawPeer((socket) => socket.once("data", () => socket.end("N")));
    fixture.secret("DATABASE_URL", `postgres://postgres@127.0.0.1:${database.port}/none?sslmode=require`);
    const away = await fixture.weekly(["--json"]);
    await database.stop();
    expect(away.summary).toMatchObject({
      exitCode: 3,
      announced: "firing",
      error: { code: "DATABASE_UNREACHABLE" },
    });
    await until("both messages", () => arena.gateway.accepted.length === 2);
    expect(arena.gateway.accepted[1]!.text).toContain("DATABASE_UNREACHABLE");
    expect(arena.gateway.accepted[1]!.text).toContain("sudo opsctl doctor weekly");
  });
});

describe.concurrent("a failed Monday, on Deno", () => {
  test("is heard, and its end", async () => {
    await using fixture = await openFixture();
    await using arena = await openWebhookArena();
    aim(fixture, (await arena.start()).url);
    await seedOwner(fixture.db.sql);
    fixture.email.routes.send.next({ status: 422, json: { name: "validation_error" } });
    const first = await fixture.weekly(["--json"], { runtime: "deno" });
    expect(first.summary, first.stderr).toMatchObject({
      status: "failed",
      exitCode: 1,
      announced: "firing",
    });
    const second = await fixture.weekly(["--json"], { runtime: "deno" });
    expect(second.summary, second.stderr).toMatchObject({ status: "success", announced: "resolved" });
    await until("both messages", () => arena.gateway.accepted.length === 2);
    expect(arena.gateway.accepted.map(({ text }) => text.includes("\nResolvido · "))).toEqual([false, true]);
    expect(read(fixture)).toMatchObject({ status: "success", announced: "resolved", announcement: null });
    expect(first.stderr + second.stderr).not.toContain(SECRET);
  });
});

describe.concurrent("the webhook", () => {
  /** A run that fails, and what it would say without a webhook. */
  async function failingRun(fixture: Fixture) {
    fixture.application.routes.analysis.script = () => ({ status: 401 });
    return await fixture.weekly(["--json"]);
  }

  test.each<[string, (fixture: Fixture) => Promise<AsyncDisposable | undefined>, string]>([
    [
      "is down",
      async (fixture) => {
        aim(fixture, `http://127.0.0.1:${await freePort()}/webhook`);
        return undefined;
      },
      "unreachable",
    ],
    [
      "never answers",
      async (fixture) => {
        const peer = await startSilentPeer();
        aim(fixture, `http://127.0.0.1:${peer.port}/webhook`);
        return { [Symbol.asyncDispose]: () => peer.stop() };
      },
      "timeout",
    ],
    [
      "has another secret",
      async (fixture) => {
        aim(fixture, unheardUrl, "another-secret");
        return undefined;
      },
      "http_401",
    ],
    [
      "is named by what is no address",
      async (fixture) => {
        aim(fixture, "127.0.0.1:9300/webhook");
        return undefined;
      },
      "CONFIG_INVALID",
    ],
  ])("%s: the exit status is the run's own, and the summary says so", async (_name, open, cause) => {
    await using fixture = await openFixture();
    await seedOwner(fixture.db.sql);
    await using _peer = await open(fixture);

    const { summary, exitCode, stderr } = await failingRun(fixture);

    expect(exitCode).toBe(1);
    expect(summary).toMatchObject({ status: "failed", error: { code: "APP_HTTP_401" }, announced: "failed" });
    expect(stderr).toContain(`"code":"ANNOUNCE_FAILED","cause":"${cause}"`);
    expect(read(fixture)).toMatchObject({ status: "failed", announced: "failed" });
    expect(read(fixture).announcement === null).toBe(cause !== "timeout");
  });

  test("finds its secret where the webhook has it alone, in its own environment file", async () => {
    await using fixture = await openFixture();
    await using arena = await openWebhookArena();
    fixture.env.OPSCTL_ALERT_WEBHOOK = (await arena.start()).url;
    const file = join(fixture.folder, "webhook.env");
    writeFileSync(file, `WEBHOOK_SECRET=${SECRET}\n`, { mode: 0o600 });
    fixture.env.OPSCTL_WEBHOOK_ENV_FILE = file;
    await seedOwner(fixture.db.sql, { phone: null });

    const { summary, stderr } = await fixture.weekly(["--json"]);

    expect(summary, stderr).toMatchObject({ status: "failed", announced: "firing" });
    await until("the message", () => arena.gateway.accepted.length === 1);
    expect(arena.gateway.accepted[0]!.text).toContain("\nAviso · infra · ");
  });

  test("is missed by the dry run, which says what is wrong before Monday does", async () => {
    await using fixture = await openFixture();
    fixture.env.OPSCTL_ALERT_WEBHOOK = "http://127.0.0.1:9300/webhook";
    fixture.env.OPSCTL_WEBHOOK_ENV_FILE = join(fixture.folder, "none.env");
    await seedOwner(fixture.db.sql);
    const { summary } = await fixture.weekly(["--dry-run", "--json"]);
    expect(summary).toMatchObject({ exitCode: 3, error: { code: "CONFIG_INVALID" } });
    expect(summary.error!.message).toContain("WEBHOOK_SECRET");
    const real = await fixture.weekly(["--json"]);
    expect(real.summary).toMatchObject({ status: "success", announced: "none" });
  });
});

describe.concurrent("neither told nor recorded is", () => {
  test.each<[string, (tenantId: string) => string[], number]>([
    ["a dry run", () => ["--dry-run"], 3],
    ["a run for one tenant", (id) => ["--tenant", id], 1],
    ["a run without WhatsApp", () => ["--skip-whatsapp"], 1],
    ["a run without e-mail", () => ["--skip-email"], 0],
    ["a run without editorials", () => ["--skip-editorials"], 1],
  ])("%s", async (_name, args, exitCode) => {
    await using fixture = await openFixture();
    aim(fixture, unheardUrl);
    const owner = await seedOwner(fixture.db.sql, { email: null });
    const ended = await fixture.weekly(["--json", ...args(owner.tenantId)]);
    expect([ended.exitCode, ended.summary.announced]).toEqual([exitCode, "none"]);
    expect(existsSync(fileOf(fixture))).toBe(false);
    expect(unheard.gateway.ledger.filter(({ method }) => method === "POST")).toEqual([]);
  });

  test("a refusal on another day, which leaves what the last run left", async () => {
    await using fixture = await openFixture();
    await using arena = await openWebhookArena();
    aim(fixture, (await arena.start()).url);
    await seedOwner(fixture.db.sql, { email: null });
    await fixture.weekly(["--json"]);
    const before = readFileSync(fileOf(fixture), "utf8");
    await until("the message", () => arena.gateway.accepted.length === 1);

    await setClock(fixture.db.sql, "2026-11-24T12:00:00Z");
    const { summary } = await fixture.weekly(["--json"]);

    expect(summary).toMatchObject({ status: "refused", exitCode: 4, announced: "none" });
    expect(readFileSync(fileOf(fixture), "utf8")).toBe(before);
    expect(arena.gateway.accepted).toHaveLength(1);
  });
});

describe.concurrent("a run that is", () => {
  async function inTheMiddle(fixture: Fixture) {
    fixture.application.routes.analysis.script = () => "hang";
    const running = await fixture.start(["weekly", "--json"]);
    await until("the first call", () => fixture.application.routes.analysis.calls.length > 0);
    return running;
  }

  test("killed leaves `running`, and the collector says it", async () => {
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

  test("ended by a signal is recorded and told", async () => {
    await using fixture = await openFixture();
    aim(fixture, heardUrl);
    await seedOwner(fixture.db.sql);
    const running = await inTheMiddle(fixture);
    running.kill("SIGTERM");
    const { summary } = await running.ended;
    expect(summary).toMatchObject({
      status: "failed",
      error: { code: "RUN_INTERRUPTED" },
      announced: "firing",
    });
    expect(read(fixture)).toMatchObject({ status: "failed", error: { code: "RUN_INTERRUPTED" } });
  });

  test("on a full disk is told, and leaves no half of a file", async () => {
    await using fixture = await openFixture();
    aim(fixture, heardUrl);
    await seedOwner(fixture.db.sql);
    const script = 'trap "" XFSZ; ulimit -f 0; exec "$0" weekly --json';
    const ended = await startProgram(["/bin/sh", "-c", script, await opsctlBinary()], { env: fixture.env })
      .ended;
    expect(ended.summary).toMatchObject({ exitCode: 1, heartbeat: "failed", announced: "firing" });
    expect(ended.stderr).toContain('"code":"LAST_RUN_UNWRITABLE"');
    expect(readdirSync(fixture.logDir)).toEqual(["weekly_performance_reports.success"]);
  });

  test("open because another process works on it ends with 1 and is not told", async () => {
    await using fixture = await openFixture();
    aim(fixture, unheardUrl);
    await seedOwner(fixture.db.sql);
    const first = await inTheMiddle(fixture);
    const second = await fixture.weekly(["--json"], { env: { OPSCTL_LOG_DIR: fixture.folder } });
    expect(second.summary, second.stderr).toMatchObject({
      exitCode: 1,
      announced: "none",
      reports: { busy: 1 },
    });
    first.kill("SIGKILL");
    await first.ended;
    expect(unheard.gateway.accepted).toEqual([]);
    rmSync(join(fixture.folder, LAST_RUN_FILE));
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
