import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../../lib/last-run/file-name.ts";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";

const shared = sharedWeekly();
const ENABLED = { enabled: true, maxLlmCalls: 30, secretPresent: true };
const DISABLED = { ...ENABLED, enabled: false };

describe("the heartbeat of runWeekly()", () => {
  test.each<[string, Partial<WeeklyOptions>, string, string]>([
    ["a plain run", { editorials: ENABLED }, "completed", "written"],
    ["editorials off", { editorials: DISABLED }, "disabled", "written"],
    ["--skip-whatsapp", { editorials: ENABLED, skipWhatsapp: true }, "completed", "kept"],
    ["--skip-email", { editorials: ENABLED, skipEmail: true }, "completed", "kept"],
    ["--skip-editorials", { editorials: ENABLED, skipEditorials: true }, "skipped", "kept"],
    [
      "--skip-editorials with editorials off",
      { editorials: DISABLED, skipEditorials: true },
      "disabled",
      "kept",
    ],
  ])(
    "%s: exit 0, editorials and heartbeat as the table says",
    async (_name, options, editorials, heartbeat) => {
      const weekly = shared();
      await seedOwner(weekly.db.sql);
      plantHeartbeat(weekly);
      const summary = await weekly.run(options);
      expect(summary).toMatchObject({
        status: "success",
        exitCode: 0,
        heartbeat,
        editorials: { status: editorials },
      });
      expect(isHeartbeatKept(weekly)).toBe(heartbeat === "kept");
      expect(weekly.application.routes.editorial.calls).toHaveLength(editorials === "completed" ? 1 : 0);
      const { skipWhatsapp, skipEmail } = options;
      expect(weekly.gateway.ledger.length > 0).toBe(!skipWhatsapp);
      expect(weekly.email.ledger.length > 0).toBe(!skipEmail);
      expect(await deliveryStates(weekly)).toEqual([
        ...(skipEmail ? [] : ["email sent x1"]),
        ...(skipWhatsapp ? [] : ["whatsapp sent x1"]),
      ]);
    },
  );

  test("a run with --tenant: that tenant only, no drain, the old heartbeat; an unknown tenant is not ready", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    const other = await seedOwner(weekly.db.sql, { archived: true });
    await seedOwner(weekly.db.sql);
    plantHeartbeat(weekly);
    expect(await weekly.run({ tenantId: owner.tenantId, editorials: ENABLED })).toMatchObject({
      exitCode: 0,
      heartbeat: "kept",
      reports: { scopes: 1, completed: 1 },
      editorials: { status: "skipped", code: null },
    });
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
    expect(new Set(weekly.application.analyzed.map(({ tenantId }) => tenantId))).toEqual(
      new Set([owner.tenantId]),
    );
    // With editorials off, the restriction alone keeps the run from writing a heartbeat.
    expect(await weekly.run({ tenantId: owner.tenantId, editorials: DISABLED })).toMatchObject({
      exitCode: 0,
      heartbeat: "kept",
    });
    expect(await weekly.run({ tenantId: other.tenantId })).toMatchObject({
      status: "not_ready",
      exitCode: 3,
      error: { code: "TENANT_NOT_ELIGIBLE" },
    });
    expect(isHeartbeatKept(weekly)).toBe(true);
  });

  test("no owner at all is a success, and is written", async () => {
    const weekly = shared();
    expect(await weekly.run()).toMatchObject({ exitCode: 0, heartbeat: "written", reports: { scopes: 0 } });
  });

  test("it is one line of JSON by the database's clock, readable by all, and nothing else is left behind", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    await setClock(weekly.db.sql, "2026-11-23T17:30:00Z");
    const summary = await weekly.run();
    const path = join(weekly.logDir, HEARTBEAT_FILE);
    const text = readFileSync(path, "utf8");
    expect(text).toEndWith("}\n");
    expect(text.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(text)).toEqual({
      runId: summary.runId,
      version: "0.0.0-test",
      week: "2026-11-16",
      finishedAt: "2026-11-23T17:30:00Z",
      reports: summary.reports,
    });
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(readdirSync(weekly.logDir)).toEqual([HEARTBEAT_FILE]);
  });

  test("a late run is written over by nobody's older one: two runs leave one whole line", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const runs = await Promise.all([weekly.run(), weekly.run()]);
    const written = runs.filter(({ heartbeat }) => heartbeat === "written").map(({ runId }) => runId);
    expect(written).toContain(JSON.parse(readFileSync(join(weekly.logDir, HEARTBEAT_FILE), "utf8")).runId);
  });
});

describe("runWeekly() with a log directory that is none", () => {
  test.each<[string, (logDir: string) => string]>([
    ["missing", (logDir) => join(logDir, "missing")],
    [
      "a file",
      (logDir) => {
        writeFileSync(join(logDir, "file"), "");
        return join(logDir, "file");
      },
    ],
    [
      "with a directory in the heartbeat's place",
      (logDir) => {
        mkdirSync(join(logDir, HEARTBEAT_FILE, "inside"), { recursive: true });
        return logDir;
      },
    ],
    ["read-only", () => "/proc/self"],
  ])("%s: everything else is done, failed, exit 1, nothing is created", async (_name, make) => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const logDir = make(weekly.logDir);
    const before = readdirSync(weekly.logDir);
    const summary = await weekly.run({ logDir });
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "failed",
      whatsapp: { sent: 1 },
      email: { sent: 1 },
      failures: [{ step: "heartbeat", code: "HEARTBEAT_UNWRITABLE" }],
    });
    expect(readdirSync(weekly.logDir)).toEqual(before);
  });

  test("a log directory that this user cannot write to leaves the old heartbeat", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    plantHeartbeat(weekly);
    chmodSync(weekly.logDir, 0o555);
    try {
      const summary = await weekly.run();
      // root may write everywhere: then the same run is an ordinary success.
      const asRoot = process.getuid?.() === 0;
      expect(summary.heartbeat).toBe(asRoot ? "written" : "failed");
      expect(isHeartbeatKept(weekly)).toBe(!asRoot);
      expect(existsSync(join(weekly.logDir, HEARTBEAT_FILE))).toBe(true);
    } finally {
      chmodSync(weekly.logDir, 0o755);
    }
  });
});
