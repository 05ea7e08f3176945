import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAlertRulesConfig } from "../../lib/alert-rules/config.ts";
import { loadLookUpConfig } from "../../lib/deliveries/config.ts";
import { isUtcZone } from "../../lib/doctor/checks/host/schedule.ts";
import { COMMAND_FACTS } from "../../lib/doctor/context/command-facts.ts";
import { parseAccount } from "../../lib/doctor/facts/accounts.ts";
import { isListening } from "../../lib/doctor/facts/tcp-port.ts";
import { loadDatabaseUrl } from "../../lib/platform/config/settings/database-config.ts";
import { loadSocketMonitorConfig } from "../../lib/sockets/config.ts";
import { loadWebhookConfig } from "../../lib/webhook/config.ts";
import { loadWeeklyConfig } from "../../lib/weekly/config.ts";
import { zoneFile } from "./support/host.ts";

const folder = mkdtempSync(join(tmpdir(), "opsctl-facts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("parseAccount()", () => {
  const passwd =
    "root:x:0:0:root:/root:/bin/bash\nopsctl:x:998:997::/nonexistent:/usr/sbin/nologin\nbad:x:a:b::/:\n";
  const group = "adm:x:4:syslog,opsctl\nopsctl:x:997:\ndocker:x:5:opsctlx\nweb:x:33:opsctl\n";

  test("knows an account with its groups", () => {
    expect(parseAccount("opsctl", passwd, group)).toEqual({ name: "opsctl", uid: 998, gids: [997, 4, 33] });
  });
  test("knows no account that is not there, or that is none", () => {
    expect([parseAccount("ops", passwd, group), parseAccount("bad", passwd, group)]).toEqual([null, null]);
  });
});

describe("isUtcZone()", () => {
  test.each([
    ["UTC0", true],
    ["GMT0", true],
    ["<+00>0", true],
    ["<-00>-00:00", true],
    ["<-03>3", false],
    ["GMT0BST,M3.5.0/1,M10.5.0", false],
    ["EST5EDT,M3.2.0,M11.1.0", false],
    ["<+1345>-13:45", false],
    ["", false],
  ])("%s: %p", (rule, expected) => {
    expect(isUtcZone(Buffer.from(zoneFile(rule), "latin1"))).toBe(expected);
  });
  test("takes no other file for a zone", () => {
    expect(isUtcZone(Buffer.from("\nUTC0\n"))).toBe(false);
  });
});

describe("isListening()", () => {
  test("sees a listening port in the kernel's own table, until it is closed", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    expect(await isListening(port, "/proc/net")).toBe(true);
    await new Promise((resolve) => server.close(resolve));
    expect(await isListening(port, "/proc/net")).toBe(false);
  });
  test("knows IPv6 alone, and says when nobody can tell", async () => {
    expect(await isListening(9300, folder)).toBeNull();
    writeFileSync(join(folder, "tcp6"), "  0: 00000000000000000000000000000000:2454 0:0 0A\n");
    expect(await isListening(9300, folder)).toBe(true);
    expect(await isListening(0x245, folder)).toBe(false);
  });
});

describe("COMMAND_FACTS", () => {
  const nothing = { OPSCTL_SECRETS_DIR: folder, OPSCTL_WEBHOOK_ENV_FILE: join(folder, "none") };
  test.each([
    ["weekly", () => loadWeeklyConfig(nothing, { skipWhatsapp: false, skipEmail: false })],
    ["webhook", () => loadWebhookConfig(nothing)],
    ["socket-monitor", () => loadSocketMonitorConfig(nothing)],
    ["alert-rules", () => loadAlertRulesConfig(nothing)],
    ["migrate", () => loadDatabaseUrl(nothing)],
    ["reports", () => loadDatabaseUrl(nothing)],
    ["deliveries", () => loadLookUpConfig(nothing)],
  ] as const)("name every secret that %s cannot do without", async (command, load) => {
    const error = await load().then(
      () => null,
      (thrown: Error) => thrown,
    );
    const lines = error!.message
      .split("\n")
      .filter((line) => line.includes("; a secret: opsctl secret set "));
    const missing = lines.map((line) => line.trim().split(":")[0]);
    const known: string[] = COMMAND_FACTS[command].secrets.map(({ name }) => name);
    expect(missing.length).toBeGreaterThan(0);
    expect(missing.filter((name) => !known.includes(name!))).toEqual([]);
  });
});
