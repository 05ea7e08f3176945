import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documents } from "../../alert-rules/support/documents.ts";
import { groupKey, type Monitoring, startMonitoring } from "../../standins/grafana.ts";
import { type Ended, opsctl, startOpsctl } from "../support/opsctl.ts";

const TOKEN = "glsa_canaryMonitoringToken";
const DASHBOARD = new URL("../../../systemd/agent/dashboard.json", import.meta.url).pathname;
const UIDS = ["--folder-uid", "vps", "--prometheus-uid", "prom-1", "--loki-uid", "loki-1"];
const PROJECT_SETTINGS = {
  MONITORING_FOLDER_UID: "vps",
  MONITORING_PROMETHEUS_UID: "prom-1",
  MONITORING_LOKI_UID: "loki-1",
};

let platform: Monitoring;

beforeAll(async () => {
  platform = await startMonitoring({ token: TOKEN, folders: ["vps"] });
});

beforeEach(() => {
  platform.rules.clear();
  platform.ledger.length = 0;
});

afterAll(() => platform.stop());

/** The settings of plan and apply; `more` replaces or, as undefined, removes. */
function settings(more: Record<string, string | undefined> = {}) {
  return { MONITORING_URL: platform.url, MONITORING_TOKEN: TOKEN, ...PROJECT_SETTINGS, ...more };
}

function expectNoToken({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toContain(TOKEN);
}

describe("opsctl alert-rules", () => {
  test("export prints every rule as Grafana takes it, without network, token or settings", async () => {
    const { exitCode, stdout, stderr } = await opsctl(
      ["alert-rules", "export", "--with-extras", ...UIDS],
      {},
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(documents(true));
    expect(platform.ledger).toEqual([]);
  });
});

describe("opsctl alert-rules apply", () => {
  test("writes each rule that differs once, after a drift as well, and nothing when it runs again", async () => {
    const env = settings({ OPSCTL_LOG_LEVEL: "debug" });
    const run = (...args: string[]) => opsctl(["alert-rules", ...args, "--json"], { env });

    const planned = await run("plan", "--check");
    expect(planned.exitCode).toBe(1);
    expect(planned.json).toMatchObject({
      command: "alert-rules plan",
      changed: 7,
      warnings: [],
      status: "failed",
    });
    expect(planned.json.error).toMatchObject({ code: "ALERT_RULES_DIFFER" });
    expect(platform.writes()).toEqual([]);

    const first = await run("apply");
    expect(first.exitCode).toBe(0);
    expect(first.json).toMatchObject({
      command: "alert-rules apply",
      status: "success",
      error: null,
      warnings: [],
    });
    expect((first.json.rules as { result: string }[]).map(({ result }) => result)).toEqual(
      Array(7).fill("created"),
    );
    expect(platform.writes()).toHaveLength(7);

    expect((await run("apply")).exitCode).toBe(0);
    expect((await run("plan", "--check")).exitCode).toBe(0);
    expect(platform.writes()).toHaveLength(7);

    Object.assign(platform.rules.get("opsctl-traefik-ram")!, { for: "1m" });
    platform.intervals.set(groupKey("vps", "vps-infra"), 120);
    expect((await run("plan")).json.warnings).toEqual([]);
    platform.intervals.set(groupKey("vps", "vps-infra"), 600);
    const drift = await run("plan");
    platform.intervals.set(groupKey("vps", "vps-infra"), 60);
    expect(drift.exitCode).toBe(0);
    expect(drift.json.warnings).toEqual([
      "The group vps-infra is evaluated every 600 s, but its quickest rule needs an evaluation every 120 s",
    ]);
    expect(
      (drift.json.rules as { uid: string; changes: object[] }[]).find(({ changes }) => changes.length > 0),
    ).toEqual(
      expect.objectContaining({
        uid: "opsctl-traefik-ram",
        action: "update",
        changes: [{ path: "for", from: "1m", to: "5m" }],
      }),
    );
    const last = await run("apply");
    expect(last.exitCode).toBe(0);
    expect(platform.writes().map(({ method }) => method)).toEqual([...Array(7).fill("POST"), "PUT"]);
    for (const ended of [planned, first, drift, last]) expectNoToken(ended);
  });

  test("an apply that was killed on its way is finished by the next", async () => {
    const env = settings();
    const running = await startOpsctl(["alert-rules", "apply"], { env });
    const { create } = platform.routes;
    const before = create.calls.length;
    create.scriptByBody = () => {
      if (create.calls.length === before + 3) running.kill("SIGKILL");
      return undefined;
    };
    expect((await running.ended).signal).toBe("SIGKILL");
    create.scriptByBody = null;

    const { exitCode, json } = await opsctl(["alert-rules", "apply", "--json"], { env });

    expect(exitCode).toBe(0);
    const results = (json.rules as { result: string }[]).map(({ result }) => result);
    expect(results.slice(0, 2)).toEqual(["unchanged", "unchanged"]);
    expect(results.slice(3)).toEqual(Array(4).fill("created"));
    expect(platform.rules.size).toBe(7);
  });
});

describe("opsctl alert-rules, whatever runs them", () => {
  test("two applies at once succeed, and leave each rule once", async () => {
    const env = settings();
    const ends = await Promise.all([1, 2].map(() => opsctl(["alert-rules", "apply", "--json"], { env })));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(platform.writes().filter(({ status }) => status === 201)).toHaveLength(7);
    expect(platform.rules.size).toBe(7);
  });

  test("reports each rule to a person, and ends with 1 when one is not in place", async () => {
    platform.routes.create.next({ status: 400, json: { message: "invalid alert rule: no" } });
    const ended = await opsctl(["alert-rules", "apply"], { env: settings() });
    expect(ended.exitCode).toBe(1);
    expect(ended.stdout).toContain("failed     vps-infra / VPS Load Average Alto (opsctl-vps-load)\n");
    expect(ended.stdout).toContain("  monitoring_http_400: invalid alert rule: no\n");
    expect(ended.stdout).toContain("created    vps-security / SSH Brute Force (opsctl-ssh-brute-force)\n");
    expect(ended.stdout).toEndWith("1 of 7 rules are NOT in place.\n");
    // Once: the log has nothing that the result says.
    expect(ended.stderr).toBe("");
    expectNoToken(ended);
  });

  test("a missing folder and a refused token are failures of Grafana: 1", async () => {
    const folder = await opsctl(["alert-rules", "apply", "--json", "--folder-uid", "absent"], {
      env: settings(),
    });
    expect({ exitCode: folder.exitCode, json: folder.json }).toMatchObject({
      exitCode: 1,
      json: { status: "failed", error: { code: "MONITORING_FOLDER_NOT_FOUND" } },
    });
    expect(JSON.stringify(folder.json)).toContain("absent");
    const token = await opsctl(["alert-rules", "plan", "--json"], {
      env: settings({ MONITORING_TOKEN: "glc_canaryAnotherToken" }),
    });
    expect({ exitCode: token.exitCode, json: token.json }).toMatchObject({
      exitCode: 1,
      json: { error: { code: "MONITORING_HTTP_401" } },
    });
    expect(token.stdout + token.stderr).not.toContain("glc_canaryAnotherToken");
    expect(platform.writes()).toEqual([]);
  });

  test("missing or wrong settings are 3, all named, and misuse is 2, before anything is called", async () => {
    const missing = await opsctl(["alert-rules", "apply", "--json"]);
    expect(missing.exitCode).toBe(3);
    expect(missing.json).toMatchObject({ status: "not_ready", error: { code: "CONFIG_INVALID" } });
    for (const name of ["MONITORING_URL", "MONITORING_TOKEN", ...Object.keys(PROJECT_SETTINGS)])
      expect(JSON.stringify(missing.json)).toContain(`${name}: is missing`);

    const env = settings({ MONITORING_URL: "http://monitoring.example.com" });
    expect((await opsctl(["alert-rules", "plan", "--json"], { env })).exitCode).toBe(3);

    const misuses = [
      ["apply", "--token", TOKEN],
      ["apply", "--dry-run"],
      ["apply", "--check"],
      ["apply", "--folder-uid"],
      ["export", "--folder-uid", "a b"],
      ["plan", "now"],
      ["aply"],
    ];
    const ends = await Promise.all(
      misuses.map((args) => opsctl(["alert-rules", ...args], { env: settings() })),
    );
    expect(ends.map(({ exitCode, stdout }) => ({ exitCode, stdout }))).toEqual(
      misuses.map(() => ({ exitCode: 2, stdout: "" })),
    );
    expect(platform.ledger).toEqual([]);
  });
});

describe("opsctl alert-rules contact-point apply", () => {
  const WEBHOOK_SECRET = "canary-webhook-secret-99aa";
  const args = ["contact-point", "apply", "--url", "https://alerts.example.com/webhook"];
  const folder = mkdtempSync(join(tmpdir(), "opsctl-webhook-env-"));
  const file = join(folder, "webhook.env");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const run = (words: string[], more: Record<string, string | undefined> = {}) =>
    opsctl(["alert-rules", ...words], {
      env: { ...settings(), OPSCTL_WEBHOOK_ENV_FILE: file, ...more },
    });

  test("takes the secret from the webhook's own file, and prints what it did", async () => {
    writeFileSync(file, `WEBHOOK_SECRET='${WEBHOOK_SECRET}'\n`, { mode: 0o600 });
    const made = await run([...args, "--receiver", "sobreaviso"]);
    expect(made).toMatchObject({ exitCode: 0 });
    expect(made.stdout).toMatch(
      /^created {4}sobreaviso \(opsctl-[0-9a-f]{16}\)\nThe secret was written\.\n$/,
    );
    expect(made.stdout + made.stderr).not.toContain(WEBHOOK_SECRET);
    expect(platform.points.at(-1)!.settings.authorization_credentials).toBe(WEBHOOK_SECRET);
    const again = await run([...args, "--json"], { MONITORING_RECEIVER: "sobreaviso" });
    expect(again.json).toMatchObject({ result: "unchanged", secret: "not_compared" });
    expect(platform.writes()).toHaveLength(1);
    platform.points.length = 1;
  });

  test("refuses what would not work before anything is called", async () => {
    rmSync(file, { force: true });
    const missing = await run([...args, "--json"]);
    expect(missing.exitCode).toBe(3);
    for (const name of ["MONITORING_RECEIVER", "WEBHOOK_SECRET"])
      expect(JSON.stringify(missing.json)).toContain(`${name}: is missing`);
    const given = { MONITORING_RECEIVER: "x", WEBHOOK_SECRET };
    const urls = [
      "http://alerts.example.com/webhook",
      "https://alerts.example.com",
      "https://a.example/webhook?x=1",
    ];
    const refused = await Promise.all(
      urls.map((url) => run(["contact-point", "apply", "--url", url, "--json"], given)),
    );
    expect(refused.map(({ exitCode }) => exitCode)).toEqual([3, 3, 3]);
    const misuses = [
      ["contact-point", "apply"],
      ["contact-point", "apply", "--url", "alerts"],
      ["contact-point", "aply"],
    ];
    const ends = await Promise.all(misuses.map((words) => run(words, given)));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2]);
    expect(platform.ledger).toEqual([]);
  });

  test("a receiver that is not there ends apply before anything is written", async () => {
    const there = "grafana-default-email";
    for (const options of [
      ["--receiver", "ausente"],
      ["--receiver", there, "--fallback-receiver", "ausente"],
    ]) {
      const ended = await run(["apply", "--json", ...options]);
      expect(ended.exitCode).toBe(1);
      expect(ended.json).toMatchObject({ error: { code: "MONITORING_RECEIVER_NOT_FOUND" } });
    }
    expect(platform.writes()).toEqual([]);
    const planned = await run(["plan", "--with-extras", "--json", "--receiver", there]);
    expect(planned.json).toMatchObject({
      changed: 19,
      warnings: [expect.stringContaining("--fallback-receiver")],
    });
  });

  test("the dashboard is printed as it is installed, without settings", async () => {
    const { exitCode, stdout, stderr } = await opsctl(["alert-rules", "dashboard"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toBe(readFileSync(DASHBOARD, "utf8"));
  });
});

describe("opsctl alert-rules", () => {
  test("export names the uids that are not given, and takes variables before them", async () => {
    const { json } = await opsctl(["alert-rules", "export", "--json", "--loki-uid", "given"], {
      env: {
        MONITORING_FOLDER_UID: "from-env",
        MONITORING_LOKI_UID: "hidden",
        MONITORING_PROMETHEUS_UID: "",
      },
    });
    const text = JSON.stringify(json.rules);
    expect(json).toMatchObject({ command: "alert-rules export", status: "success", error: null });
    expect(json.rules).toHaveLength(7);
    for (const uid of ['"from-env"', '"given"', '"<MONITORING_PROMETHEUS_UID>"']) expect(text).toContain(uid);
    expect(text).not.toContain("hidden");
  });

  test("takes the token from a secret file, and no path behind Grafana's address is lost", async () => {
    const secrets = mkdtempSync(join(tmpdir(), "opsctl-secrets-"));
    const behind = await startMonitoring({ token: TOKEN, folders: ["vps"], prefix: "/grafana" });
    try {
      writeFileSync(join(secrets, "MONITORING_TOKEN"), `${TOKEN}\n`);
      chmodSync(join(secrets, "MONITORING_TOKEN"), 0o600);
      const env = settings({
        MONITORING_TOKEN: undefined,
        MONITORING_URL: `${behind.url}/`,
        OPSCTL_SECRETS_DIR: secrets,
      });
      expect((await opsctl(["alert-rules", "apply"], { env })).exitCode).toBe(0);
      expect(behind.rules.size).toBe(7);
      expect(behind.unexpected).toEqual([]);
    } finally {
      await behind.stop();
      rmSync(secrets, { recursive: true, force: true });
    }
  });
});
