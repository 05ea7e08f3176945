import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { databaseSnapshot } from "../support/database-snapshot.ts";
import { type Fixture, openFixture } from "../support/fixture.ts";

const TENANT = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";

/** Command lines that another parser would take for a real run, for all tenants. */
const MISUSES = [
  ["weekly", "--dryrun"],
  ["weekly", "--dry-run=false"],
  ["weekly", "--no-dry-run"],
  ["weekly", "--skip-watsapp"],
  ["weekly", "--skipEmail"],
  ["weekly", "--tenant"],
  ["weekly", "--tenant="],
  ["weekly", "--tenant", ""],
  ["weekly", "--tenant", " "],
  ["weekly", "--tenant", "--json"],
  ["weekly", "--tenant", "all"],
  ["weekly", `--tenant=${TENANT} `],
  ["weekly", "--tenant", TENANT, "--tenant", TENANT.replace("3", "4")],
  ["weekly", "--TENANT", TENANT],
  ["weekly", TENANT],
  ["weekly", "extra"],
  ["weekly", "--", "--dry-run"],
  ["weekly", "--json", "-d"],
  ["weekly", "-"],
  ["weekly", "--concurrency"],
  ["weekly", "--concurrency", "0"],
  ["weekly", "--concurrency", "-1"],
  ["weekly", "--concurrency=1.5"],
  ["weekly", "--concurrency", "1e1"],
  ["weekly", "--patience"],
  ["weekly", "--patience", "-1"],
  ["weekly", "--patience", "1.5"],
  ["weekly", "--patience", "15m"],
  ["weekly", "--patience", "1441"],
  ["weekly", "--dry-run", "--without-social"],
  ["weekly", "--without-social=1"],
  ["weekyl"],
  ["--json", "weekly"],
  ["reports", "state"],
  ["reports", "show"],
  ["reports", "show", TENANT, "--tenant", TENANT],
  ["reports", "show", TENANT, "--week", "2026-11-16"],
  ["reports", "list", "--state", "failed", "--channel", "instagram"],
  ["reports", "status", "--week", "2026-11-17"],
  ["reports", "preview"],
  ["reports", "preview", "--tenant", TENANT, "--out", "here"],
  ["reports", "prune"],
  ["deliveries", "lst"],
  ["deliveries", "reconcile", TENANT],
  ["deliveries", "reconcile", TENANT, "--to", "sent", "--reason", "seen"],
  ["migrate", "now"],
];

let fixture: Fixture;

beforeAll(async () => {
  fixture = await openFixture();
  await seedOwner(fixture.db.sql);
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

describe("a misused command line", () => {
  test("ends with 2 before anything has happened", async () => {
    const before = await databaseSnapshot(fixture.db.sql);

    const ends = await Promise.all(
      MISUSES.map(async (args) => {
        const { exitCode, stdout, stderr } = await fixture.opsctl(args);
        return { args, exitCode, stdout, stderr };
      }),
    );

    const wrong = ends.filter(({ exitCode, stdout }) => exitCode !== 2 || stdout !== "");
    expect(wrong).toEqual([]);
    for (const { args, stderr } of ends) {
      expect(stderr, args.join(" ")).toMatch(/^opsctl[^\n]*: \S/);
      expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
    }
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
    expect(fixture.requests()).toEqual([]);
    expect(fixture.heartbeat.isOld()).toBe(true);
  });
});
