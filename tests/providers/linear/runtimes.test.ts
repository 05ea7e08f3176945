import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { IssueOutcome } from "../../../lib/providers/issue-outcome.ts";
import { refusedPort, startTlsPeer } from "../../standins/raw-peer.ts";
import type { Scripted } from "../../standins/standin.ts";
import { startTracker, type Tracker } from "../../standins/tracker.ts";
import { denoCache } from "../../support/deno-cache.ts";
import type { ProbeCreation, ProbeOrder } from "../support/linear-probe.ts";

const TOKEN = "lin_api_canary";
const TEAM = "5b6b1a4e-9c0f-4e55-8a35-0d6a5d0d7c01";

const root = join(import.meta.dir, "../../..");
const probe = join(import.meta.dir, "../support/linear-probe.ts");
const runtimes = {
  Bun: [process.execPath, "run", probe],
  Deno: [join(root, "node_modules/.bin/deno"), "run", "-A", "--no-lock", probe],
};

let tracker: Tracker;

beforeEach(async () => {
  tracker = await startTracker({ token: TOKEN, teamId: TEAM });
});

afterEach(async () => {
  await tracker.stop();
});

async function createOn(
  command: string[],
  creations: ProbeCreation[],
): Promise<{ said: string; outcomes: IssueOutcome[] }> {
  const order: ProbeOrder = { token: TOKEN, teamId: TEAM, creations };
  const env = { PATH: process.env.PATH, HOME: tmpdir(), DENO_DIR: denoCache(), DENO_NO_UPDATE_CHECK: "1" };
  const [file = "", ...args] = [...command, JSON.stringify(order)];
  const { stdout } = await promisify(execFile)(file, args, { cwd: root, env });
  return { said: stdout, outcomes: JSON.parse(stdout).outcomes };
}

function creation(url: string, timeoutMs = 20_000): ProbeCreation {
  const issue = { id: randomUUID(), title: "canary", description: "canary", priority: 3 as const };
  return { url, issue, timeoutMs };
}

describe.each(Object.entries(runtimes))("linearTracker() on %s", (_runtime, command) => {
  test("finds what was created before the answer was lost, having sent each creation once", async () => {
    // The creations that are answered as usual leave connections that a runtime could use again.
    const faults: (Scripted | null)[] = [
      null,
      { accept: "drop" },
      null,
      { accept: "drop" },
      { accept: "break_body" },
      { accept: "huge" },
      { accept: "not_json" },
    ];
    const creations = faults.map(() => creation(tracker.endpoint));
    const scripts = new Map(creations.map(({ issue }, i) => [issue.id, faults[i]]));
    tracker.routes.graphql.scriptByBody = ({ rawBody }) => {
      if (!rawBody.includes("issueCreate")) return undefined;
      return scripts.get(JSON.parse(rawBody).variables.input.id) ?? undefined;
    };
    const { outcomes, said } = await createOn(command, creations);
    expect(outcomes).toEqual(
      creations.map(({ issue }, i) => ({
        status: "created",
        id: issue.id,
        identifier: `ENG-${i + 1}`,
        url: `https://linear.app/example/issue/ENG-${i + 1}`,
      })),
    );
    expect(tracker.issues.map(({ id }) => id)).toEqual(creations.map(({ issue }) => issue.id));
    const { calls } = tracker.routes.graphql;
    expect(calls.filter(({ rawBody }) => rawBody.includes("issueCreate"))).toHaveLength(creations.length);
    expect(new Set(calls.map(({ connection }) => connection)).size).toBe(calls.length);
    expect(said).not.toContain("canary");
  });

  test("knows when the issue is not there, and that nothing was sent", async () => {
    const tls = await startTlsPeer("{}");
    tracker.routes.graphql.next("drop");
    const { outcomes } = await createOn(command, [
      creation(tracker.endpoint),
      creation(`http://127.0.0.1:${await refusedPort()}/graphql`),
      creation(`https://localhost:${tls.port}/graphql`),
    ]);
    await tls.stop();
    expect(outcomes).toEqual([
      { status: "unknown", code: "tracker_connection_lost" },
      { status: "unknown", code: "tracker_unreachable" },
      { status: "unknown", code: "tracker_unreachable" },
    ]);
    expect(tracker.lookups).toHaveLength(1);
    expect(tls.requests).toBe(0);
  });
});
