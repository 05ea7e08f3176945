import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** The contact point that every Grafana has. */
const EMAIL = "grafana-default-email";

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

const run = (words: string[], more: Record<string, string | undefined> = {}) =>
  opsctl(["alert-rules", ...words], { env: settings(more) });

/** What each rule of a result came to. */
const resultsOf = ({ json }: Ended) => (json.rules as { result: string }[]).map(({ result }) => result);

describe("opsctl alert-rules export", () => {
  test("prints every rule as Grafana takes it, without network, token or settings", async () => {
    const ended = await opsctl(["alert-rules", "export", "--with-extras", ...UIDS], {});
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(ended.stdout)).toEqual(documents(true));
    expect(platform.ledger).toEqual([]);
  });

  test("names the uids that are not given, and takes variables before them", async () => {
    const env = {
      MONITORING_FOLDER_UID: "from-env",
      MONITORING_LOKI_UID: "hidden",
      MONITORING_PROMETHEUS_UID: "",
    };
    const { json } = await opsctl(["alert-rules", "export", "--json", "--loki-uid", "given"], { env });
    const text = JSON.stringify(json.rules);
    expect(json).toMatchObject({ command: "alert-rules export", status: "success", error: null });
    expect(json.rules).toHaveLength(7);
    for (const uid of ['"from-env"', '"given"', '"<MONITORING_PROMETHEUS_UID>"']) expect(text).toContain(uid);
    expect(text).not.toContain("hidden");
  });
});

describe("opsctl alert-rules apply", () => {
  test("writes each rule that differs once, after a drift as well, and nothing when it runs again", async () => {
    const planned = await run(["plan", "--check", "--json"]);
    expect(planned).toMatchObject({
      exitCode: 1,
      json: { command: "alert-rules plan", changed: 7, warnings: [], status: "failed" },
    });
    expect(planned.json.error).toMatchObject({ code: "ALERT_RULES_DIFFER" });
    expect(platform.writes()).toEqual([]);

    const first = await run(["apply", "--json"], { OPSCTL_LOG_LEVEL: "debug" });
    expect(first).toMatchObject({
      exitCode: 0,
      json: { command: "alert-rules apply", status: "success", error: null, warnings: [] },
    });
    expect(resultsOf(first)).toEqual(Array(7).fill("created"));
    for (const words of [["apply"], ["plan", "--check"]]) expect((await run(words)).exitCode).toBe(0);
    expect(platform.writes()).toHaveLength(7);

    Object.assign(platform.rules.get("opsctl-traefik-ram")!, { for: "1m" });
    platform.intervals.set(groupKey("vps", "vps-infra"), 120);
    expect((await run(["plan", "--json"])).json.warnings).toEqual([]);
    const groups = ["vps-infra", "vps-security"].map((group) => groupKey("vps", group));
    for (const group of groups) platform.intervals.set(group, 600);
    const drift = await run(["plan", "--json"]);
    for (const group of groups) platform.intervals.set(group, 60);
    expect(drift).toMatchObject({ exitCode: 0, json: { changed: 1 } });
    expect(drift.json.warnings).toEqual([
      "The group vps-infra is evaluated every 600 s, but its quickest rule needs an evaluation every 120 s",
      "The group vps-security is evaluated every 600 s, but its quickest rule needs an evaluation every 300 s",
    ]);
    expect(
      (drift.json.rules as { uid: string }[]).find(({ uid }) => uid === "opsctl-traefik-ram"),
    ).toMatchObject({
      action: "update",
      changes: [{ path: "for", from: "1m", to: "5m" }],
    });
    const last = await run(["apply"]);
    expect(last.exitCode).toBe(0);
    expect(platform.writes().map(({ method }) => method)).toEqual([...Array(7).fill("POST"), "PUT"]);
    for (const ended of [planned, first, drift, last]) expectNoToken(ended);
  });

  test("an apply that was killed on its way is finished by the next", async () => {
    const running = await startOpsctl(["alert-rules", "apply"], { env: settings() });
    const { create } = platform.routes;
    const before = create.calls.length;
    create.scriptByBody = () => {
      if (create.calls.length === before + 3) running.kill("SIGKILL");
      return undefined;
    };
    expect((await running.ended).signal).toBe("SIGKILL");
    create.scriptByBody = null;

    const next = await run(["apply", "--json"]);
    expect(next.exitCode).toBe(0);
    expect(resultsOf(next).slice(0, 2)).toEqual(["unchanged", "unchanged"]);
    expect(resultsOf(next).slice(3)).toEqual(Array(4).fill("created"));
    expect(platform.rules.size).toBe(7);
  });

  test("two applies at once succeed, and leave each rule once", async () => {
    const ends = await Promise.all([1, 2].map(() => run(["apply"])));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(platform.writes().filter(({ status }) => status === 201)).toHaveLength(7);
    expect(platform.rules.size).toBe(7);
  });

  test("reports each rule to a person, and ends with 1 when one is not in place", async () => {
    platform.routes.create.next({ status: 400, json: { message: "invalid alert rule: no" } });
    const ended = await run(["apply"]);
    // The log has nothing that the result says.
    expect(ended).toMatchObject({ exitCode: 1, stderr: "" });
    expect(ended.stdout).toContain("failed     vps-infra / VPS Load Average Alto (opsctl-vps-load)\n");
    expect(ended.stdout).toContain("  monitoring_http_400: invalid alert rule: no\n");
    expect(ended.stdout).toContain("created    vps-security / SSH Brute Force (opsctl-ssh-brute-force)\n");
    expect(ended.stdout).toEndWith("1 of 7 rules are NOT in place.\n");
    expectNoToken(ended);
  });

  test.each<[string[], Record<string, string>, string]>([
    [["apply", "--folder-uid", "absent"], {}, "MONITORING_FOLDER_NOT_FOUND"],
    [["plan"], { MONITORING_TOKEN: "glc_canaryAnotherToken" }, "MONITORING_HTTP_401"],
    [["apply", "--receiver", "ausente"], {}, "MONITORING_RECEIVER_NOT_FOUND"],
    [["apply", "--receiver", EMAIL, "--fallback-receiver", "ausente"], {}, "MONITORING_RECEIVER_NOT_FOUND"],
  ])(
    "what Grafana lacks or refuses ends it with 1, before anything is written: %j",
    async (words, more, code) => {
      const ended = await run([...words, "--json"], more);
      expect(ended).toMatchObject({ exitCode: 1, json: { status: "failed", error: { code } } });
      expect(ended.stdout + ended.stderr).not.toContain("canaryAnotherToken");
      expect(platform.writes()).toEqual([]);
    },
  );

  test("warns of rules on the webhook itself that have no receiver", async () => {
    const planned = await run(["plan", "--with-extras", "--json", "--receiver", EMAIL]);
    const warnings = [expect.stringContaining("--fallback-receiver")];
    expect(planned.json).toMatchObject({ changed: 19, warnings });
  });

  test("missing or wrong settings are 3, all named, and misuse is 2, before anything is called", async () => {
    const missing = await opsctl(["alert-rules", "apply", "--json"]);
    expect(missing).toMatchObject({
      exitCode: 3,
      json: { status: "not_ready", error: { code: "CONFIG_INVALID" } },
    });
    for (const name of ["MONITORING_URL", "MONITORING_TOKEN", ...Object.keys(PROJECT_SETTINGS)])
      expect(JSON.stringify(missing.json)).toContain(`${name}: is missing`);
    const plain = await run(["plan"], { MONITORING_URL: "http://monitoring.example.com" });
    expect(plain.exitCode).toBe(3);

    const misuses = [
      ...[
        ["apply", "--token", TOKEN],
        ["apply", "--dry-run"],
        ["apply", "--check"],
        ["plan", "now"],
        ["aply"],
      ],
      ...[
        ["apply", "--folder-uid"],
        ["export", "--folder-uid", "a b"],
      ],
      ...[
        ["contact-point", "apply"],
        ["contact-point", "apply", "--url", "alerts"],
        ["contact-point", "aply"],
      ],
    ];
    const ends = await Promise.all(misuses.map((words) => run(words)));
    expect(ends.map(({ exitCode, stdout }) => ({ exitCode, stdout }))).toEqual(
      misuses.map(() => ({ exitCode: 2, stdout: "" })),
    );
    expect(platform.ledger).toEqual([]);
  });

  test("takes the token from a secret file, and no path behind Grafana's address is lost", async () => {
    const secrets = mkdtempSync(join(tmpdir(), "opsctl-secrets-"));
    const behind = await startMonitoring({ token: TOKEN, folders: ["vps"], prefix: "/grafana" });
    try {
      writeFileSync(join(secrets, "MONITORING_TOKEN"), `${TOKEN}\n`, { mode: 0o600 });
      const place = { MONITORING_URL: `${behind.url}/`, OPSCTL_SECRETS_DIR: secrets };
      expect((await run(["apply"], { ...place, MONITORING_TOKEN: undefined })).exitCode).toBe(0);
      expect(behind.rules.size).toBe(7);
      expect(behind.unexpected).toEqual([]);
    } finally {
      await behind.stop();
      rmSync(secrets, { recursive: true, force: true });
    }
  });
});

test("opsctl alert-rules dashboard prints it as it is installed, without settings", async () => {
  const ended = await opsctl(["alert-rules", "dashboard"]);
  expect(ended).toMatchObject({ exitCode: 0, stderr: "", stdout: readFileSync(DASHBOARD, "utf8") });
});

describe("opsctl alert-rules contact-point apply", () => {
  const WEBHOOK_SECRET = "canary-webhook-secret-99aa";
  const args = ["contact-point", "apply", "--url", "https://alerts.example.com/webhook"];
  const folder = mkdtempSync(join(tmpdir(), "opsctl-webhook-env-"));
  const OPSCTL_WEBHOOK_ENV_FILE = join(folder, "webhook.env");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("takes the secret from the webhook's own file, and prints what it did", async () => {
    writeFileSync(OPSCTL_WEBHOOK_ENV_FILE, `WEBHOOK_SECRET='${WEBHOOK_SECRET}'\n`, { mode: 0o600 });
    const made = await run([...args, "--receiver", "sobreaviso"], { OPSCTL_WEBHOOK_ENV_FILE });
    expect(made).toMatchObject({ exitCode: 0 });
    expect(made.stdout).toMatch(
      /^created {4}sobreaviso \(opsctl-[0-9a-f]{16}\)\nThe secret was written\.\n$/,
    );
    expect(made.stdout + made.stderr).not.toContain(WEBHOOK_SECRET);
    expect(platform.points.at(-1)!.settings.authorization_credentials).toBe(WEBHOOK_SECRET);
    const more = { OPSCTL_WEBHOOK_ENV_FILE, MONITORING_RECEIVER: "sobreaviso" };
    expect((await run([...args, "--json"], more)).json).toMatchObject({
      ...{ result: "unchanged", secret: "not_compared" },
    });
    expect(platform.writes()).toHaveLength(1);
    platform.points.length = 1;
  });

  test("refuses what would not work before anything is called", async () => {
    const missing = await run([...args, "--json"], { OPSCTL_WEBHOOK_ENV_FILE: join(folder, "nothing") });
    expect(missing.exitCode).toBe(3);
    for (const name of ["MONITORING_RECEIVER", "WEBHOOK_SECRET"])
      expect(JSON.stringify(missing.json)).toContain(`${name}: is missing`);
    const given = { MONITORING_RECEIVER: "x", WEBHOOK_SECRET };
    for (const url of ["http://a.example/webhook", "https://a.example", "https://a.example/webhook?x=1"])
      expect((await run(["contact-point", "apply", "--url", url, "--json"], given)).exitCode).toBe(3);
    expect(platform.ledger).toEqual([]);
  });
});
