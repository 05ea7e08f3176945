import { describe, expect, spyOn, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import type { Finding } from "../../lib/doctor/context.ts";
import { openDatabase } from "../../lib/platform/database/pool.ts";
import { startSilentPeer } from "../standins/raw-peer.ts";
import { until } from "../support/until.ts";
import { fixOf, type Host, openHost } from "./support/host.ts";

/** So long that no call to a peer ends before the test lets the limit of its check run out. */
const CALL_LIMIT_MS = 600_000;

/** The same for the limit of each check, by which its timer is known. */
const LIMIT_MS = 500_000;

/** A healthy host on which only the limit of each check counts. */
async function openPatientHost(): Promise<Host> {
  const host = await openHost();
  host.dependencies.callLimitMs = CALL_LIMIT_MS;
  host.dependencies.openDatabase = (url) =>
    openDatabase(url, { max: 1, applicationName: "opsctl doctor", connectLimitMs: CALL_LIMIT_MS });
  return host;
}

/** Has the time of all checks run out when the test calls what it returns, and not before. */
function handLimit({ dependencies }: Host): () => void {
  dependencies.limitMs = LIMIT_MS;
  const begin = globalThis.setTimeout;
  const ends: (() => void)[] = [];
  const hold = (end: (...words: unknown[]) => void, ms = 0, ...words: unknown[]) => {
    if (ms > 0.9 * LIMIT_MS && ms <= LIMIT_MS) ends.push(() => end(...words));
    return begin(end, ms, ...words);
  };
  const clock = spyOn(globalThis, "setTimeout").mockImplementation(hold as typeof setTimeout);
  return () => {
    clock.mockRestore();
    for (const end of ends) end();
  };
}

/** Waits until all checks but these have ended; some of these may have ended as well. */
async function othersEnded(host: Host, hanging: readonly string[]): Promise<void> {
  const others = () => host.open().filter((name) => !hanging.includes(name));
  await until("all checks end but those that are meant to hang", () => others().length === 0).catch(
    (error) => {
      throw new Error(`these hang as well: ${others().join(", ")}`, { cause: error });
    },
  );
}

const outOfTime = (findings: readonly Finding[]) =>
  findings.filter(({ reason }) => reason.startsWith("no answer within"));

/** Every check that asks a peer. */
const HANGING = [
  "weekly: database",
  "weekly: database schema",
  "weekly: messaging gateway",
  "weekly: whatsapp sender",
  "weekly: e-mail sender",
  "weekly: e-mail provider",
  "weekly: recipients",
  "weekly: application",
  "weekly: status",
  "webhook: messaging gateway",
  "webhook: issue tracker",
  "webhook: status",
  "collect-metrics: container",
  "collect-metrics: hosting provider",
  "socket-monitor: messaging gateway",
  "alert-rules: rules",
  "alert-rules: folder",
  "alert-rules: metrics data source",
  "alert-rules: logs data source",
  "migrate: database",
  "migrate: migrations",
  "reports: database",
  "reports: database schema",
  "deliveries: database",
  "deliveries: database schema",
];

describe("runDoctor() when peers hang", () => {
  test("ends with the limit, and names each of them", async () => {
    await using host = await openPatientHost();
    const database = await startSilentPeer();
    for (const peer of host.peers)
      for (const route of Object.values(peer.routes)) route.script = () => "hang";
    host.put("secrets/DATABASE_URL", `postgres://u:secret-of-the-url@127.0.0.1:${database.port}/app`);
    const runOut = handLimit(host);

    const running = host.examine();
    const areAsked = () => host.peers.every((peer) => peer.ledger.length > 0) && database.connections > 0;
    await until("every peer is asked", areAsked);
    await othersEnded(host, HANGING);
    expect(host.open()).toEqual(HANGING);
    runOut();
    const findings = await running;

    const lost = outOfTime(findings);
    expect(lost.map(({ command, check }) => `${command}: ${check}`)).toEqual(HANGING);
    expect(lost.every(({ status }) => status === "fail")).toBe(true);
    // What comes next stands alone in the bare doctor: it names the peer.
    const fix =
      /^See that (?:the [\w -]+|Grafana) runs and answers, then: opsctl doctor [\w-]+ --env-dir \/[^ ]+\/etc$/;
    expect(lost.filter((finding) => !fix.test(fixOf(finding)))).toEqual([]);
    // A check that hangs does not delay the others.
    expect(findings.find(({ check }) => check === "host time zone")).toMatchObject({ status: "pass" });
    await database.stop();
  });

  test("ends a secret command that hangs, and names it", async () => {
    await using host = await openHost();
    host.put("bin/vault", "#!/bin/sh\nexec sleep 600\n", 0o755);
    host.dependencies.env = { ...host.dependencies.env, OPSCTL_SECRETS_COMMAND: host.path("bin/vault") };
    host.dependencies.limitMs = 1_000;
    host.put("secrets/HOSTING_TOKEN", "");
    const findings = await host.examine("collect-metrics");
    expect(findings.filter(({ check }) => check === "secrets")).toEqual([
      expect.objectContaining({
        status: "fail",
        reason: expect.stringContaining(
          "secret HOSTING_TOKEN from OPSCTL_SECRETS_COMMAND: it did not answer within 0.75 s",
        ),
        fix: { text: expect.stringContaining("by hand"), command: null },
      }),
    ]);
    expect(findings.find(({ check }) => check === "socket table")).toMatchObject({ status: "pass" });
  });

  test("does not leave the loader waiting for a secret command that hangs", async () => {
    await using host = await openHost();
    const calls = host.path("calls");
    host.put("bin/vault", `#!/bin/sh\necho "$1" >> ${calls}\nexec sleep 600\n`, 0o755);
    host.dependencies.env = { ...host.dependencies.env, OPSCTL_SECRETS_COMMAND: host.path("bin/vault") };
    rmSync(host.path("secrets/DATABASE_URL"));
    const findings = await host.examine("migrate");
    const reasonsOf = (name: string) =>
      findings.filter(({ check }) => check === name).map(({ reason }) => reason);
    expect(reasonsOf("secrets")).toContainEqual(
      expect.stringContaining("DATABASE_URL from OPSCTL_SECRETS_COMMAND: it did not answer within 3 s"),
    );
    expect(reasonsOf("configuration")).toEqual([
      expect.stringMatching(/^not checked: .*, see secrets; neither were database, migrations$/),
    ]);
    // Once for each secret of the command.
    const asked = readFileSync(calls, "utf8").trim().split("\n");
    expect(asked.sort()).toEqual(["DATABASE_URL", "MIGRATE_DATABASE_URL"]);
  });
});
