/** Durable acceptance of alerts: against SQLite with one transaction per row, and against a daemon with a script. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findDebianTool, putOnPath } from "../support/debian-tool.ts";
import { freePort } from "../support/free-port.ts";
import { unitEnvironment } from "../support/started-environment.ts";
import { memoryOf, OPSCTL, ROOT, startScript } from "./child.ts";
import { type Figure, median } from "./figure.ts";

const SECRET = "bench-webhook-secret";
const MIB = 1_048_576;
const ROUNDS = 3;
/** 3 alerts, some 3.6 KB. */
export const SMALL_POST = 3;
/** The same alerts again and again, as in a storm: each one a message, few of them an issue. */
const REPEATED = 3;
/** Different alerts of the long run. */
const STORM = 100;
/** Every minute of the long run accepts more than the outbox may hold by itself. */
const OUTBOX_ROWS = 5_000_000;
const OUTBOX_MIB = 16_384;
const AT_FULL_SPEED = ["--messages-per-minute", "60000", "--issues-per-hour", "3600000"];

/** What a load measured. */
export type Load = {
  posts: number;
  perSecond: number;
  /** Posts in each quarter of the time. */
  quarters: number[];
  p50Ms: number;
  p99Ms: number;
  refused: number;
};
/** A service that listens. */
export type Target = { url: string; pid: number; stop(): Promise<void> };

/** Requests a second and latency of short loads, with their baselines in turn. */
export async function webhookFigures(): Promise<Figure[]> {
  return [...(await throughputFigures()), ...(await shellFigures())];
}

async function throughputFigures(): Promise<Figure[]> {
  const rounds: Record<"opsctl" | "sqlite" | "parse", Load>[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    rounds.push({
      opsctl: await loaded(await startOpsctl(5), 16, 4, SMALL_POST),
      sqlite: await loaded(await startBare("sqlite"), 16, 4, SMALL_POST),
      parse: await loaded(await startBare("parse"), 16, 4, SMALL_POST),
    });
  }
  const perSecond = (name: "opsctl" | "sqlite" | "parse") =>
    median(rounds.map((round) => round[name].perSecond));
  const against = (what: string, name: "sqlite" | "parse", goal?: Figure["goal"]): Figure => ({
    measure: `durable posts of ${SMALL_POST} alerts, 16 connections, against ${what}`,
    value: `${perSecond("opsctl").toFixed(0)}/s`,
    baseline: `${perSecond(name).toFixed(0)}/s`,
    ratio: median(rounds.map((round) => round.opsctl.perSecond / round[name].perSecond)),
    ...(goal === undefined ? {} : { goal }),
  });
  return [
    against("SQLite FULL, a transaction per row", "sqlite", { atLeast: 2.5 }),
    against("a bare handler that parses the JSON", "parse", { atLeast: 0.2 }),
  ];
}

/** Posts a second while messages and issues go out as fast as they can, against posts at the usual pace. */
export async function intakeFigures(): Promise<Figure[]> {
  const rounds: { busy: Load; alone: Load }[] = [];
  for (let i = 0; i < ROUNDS; i += 1)
    rounds.push({
      busy: await loaded(await startOpsctl(5, {}, AT_FULL_SPEED), 16, 6, 10, STORM),
      alone: await loaded(await startOpsctl(5), 16, 6, 10, STORM),
    });
  const perSecond = (name: "busy" | "alone") => median(rounds.map((round) => round[name].perSecond));
  return [
    {
      measure:
        "durable posts of 10 alerts, 16 connections, while deliveries run at full speed, against intake alone",
      value: `${perSecond("busy").toFixed(0)}/s`,
      baseline: `${perSecond("alone").toFixed(0)}/s`,
      ratio: median(rounds.map(({ busy, alone }) => busy.perSecond / alone.perSecond)),
      goal: { atLeast: 0.6 },
    },
  ];
}

/** A generic webhook daemon with a shell script: Debian's packages `webhook` and `jq`. */
async function shellFigures(): Promise<Figure[]> {
  const measure = "one connection, median latency, against a webhook daemon with a shell script";
  const goal = { atMost: 0.1 };
  const program = findDebianTool({ program: "webhook", packageName: "webhook", versionWord: "-version" });
  if (program === null || !putOnPath({ program: "jq", packageName: "jq" }))
    return [{ measure, value: "not measured: no webhook or no jq", goal }];
  const opsctl = await loaded(await startOpsctl(5), 1, 3, SMALL_POST);
  const daemon = await loaded(await startDaemon(program), 1, 3, SMALL_POST);
  const text = (load: Load) => `${load.p50Ms.toFixed(1)} ms`;
  return [{ measure, value: text(opsctl), baseline: text(daemon), ratio: opsctl.p50Ms / daemon.p50Ms, goal }];
}

/** A minute of 10 alerts a post, with peers that are slow. */
export async function webhookMinuteFigures(): Promise<Figure[]> {
  const target = await startOpsctl(2_000);
  const memory: number[] = [];
  const watch = setInterval(() => memory.push(memoryOf(target.pid) ?? 0), 1_000);
  const load = await loaded(target, 20, 60, 10, STORM).finally(() => clearInterval(watch));
  const bare = await startBare("parse");
  let bareMemory = 0;
  const watchBare = setInterval(() => {
    bareMemory = Math.max(bareMemory, memoryOf(bare.pid) ?? 0);
  }, 500);
  await loaded(bare, 20, 10, 10).finally(() => clearInterval(watchBare));
  const [first15 = 0, , , late15 = 0] = load.quarters;
  const early = Math.max(...memory.slice(10, 25));
  const late = Math.max(...memory.slice(-15));
  const mib = (bytes: number) => `${(bytes / MIB).toFixed(0)} MiB`;
  return [
    {
      measure: "durable posts of 10 alerts, 20 connections, 60 s, peers at 2 s a call",
      value: `${load.perSecond.toFixed(0)}/s`,
    },
    {
      measure: "  last 15 s, while hundreds of thousands of alerts wait, against the first 15 s",
      value: `${(late15 / 15).toFixed(0)}/s`,
      baseline: `${(first15 / 15).toFixed(0)}/s`,
      ratio: late15 / first15,
      goal: { atLeast: 0.8 },
    },
    {
      measure: "  99 of 100 answered within",
      value: `${load.p99Ms.toFixed(1)} ms`,
      baseline: "100 ms",
      ratio: load.p99Ms / 100,
      goal: { atMost: 1 },
    },
    {
      measure: "  memory at its end",
      value: mib(late),
      baseline: "150 MiB",
      ratio: late / (150 * MIB),
      goal: { atMost: 1 },
    },
    {
      measure: "  last 15 s against 10 to 25 s",
      value: mib(late),
      baseline: mib(early),
      ratio: late / early,
      goal: { atMost: 1.1 },
    },
    {
      measure: "  against a bare server under the same load",
      value: mib(late),
      baseline: mib(bareMemory),
      ratio: late / bareMemory,
      goal: { atMost: 1.6 },
    },
  ];
}

/** The load that `load.ts` puts on a service, which is stopped afterwards. */
export async function loaded(
  target: Target,
  connections: number,
  seconds: number,
  alerts: number,
  fingerprints = REPEATED,
): Promise<Load> {
  try {
    const words = [target.url, SECRET, connections, seconds, alerts, fingerprints].map(String);
    const child = Bun.spawn([process.execPath, join(ROOT, "tests/bench/load.ts"), ...words], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const load = JSON.parse(await new Response(child.stdout).text()) as Load;
    if (load.refused > 0) throw new Error(`${load.refused} of ${load.posts} posts were refused`);
    return load;
  } finally {
    await target.stop();
  }
}

/** The binary with peers of that latency, its state in a file unless `env` says otherwise. */
export async function startOpsctl(
  peerLatencyMs: number,
  env: Record<string, string> = {},
  more: readonly string[] = [],
): Promise<Target> {
  const peers = await startScript("alert-peers.ts", [String(peerLatencyMs)]);
  const directory = mkdtempSync(join(tmpdir(), "opsctl-bench-"));
  const port = await freePort();
  const words = ["webhook", "serve", "--host", "127.0.0.1", "--port", `${port}`, "--admin-port", "0"];
  const child = Bun.spawn(
    [OPSCTL, ...words, "--outbox-rows", String(OUTBOX_ROWS), "--outbox-mib", String(OUTBOX_MIB), ...more],
    {
      env: {
        ...unitEnvironment(),
        OPSCTL_ENV_DIR: "",
        WEBHOOK_SECRET: SECRET,
        MESSAGING_API_URL: peers.answer,
        MESSAGING_API_KEY: "bench-gateway",
        MESSAGING_PHONE: "5511912345678",
        ISSUE_TRACKER_URL: `${peers.answer}/graphql`,
        ISSUE_TRACKER_TOKEN: "lin_api_bench",
        ISSUE_TRACKER_TEAM_ID: "team",
        OPSCTL_STATE_DIR: directory,
        OPSCTL_LOG_LEVEL: "error",
        ...env,
      },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "inherit",
    },
  );
  await untilListening(port);
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    pid: child.pid,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
      await peers.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function startBare(mode: "parse" | "sqlite"): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-bench-"));
  const script = await startScript("bare-webhook.ts", [mode, join(directory, "posts.db")]);
  return {
    url: script.answer,
    pid: script.pid,
    async stop() {
      await script.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Debian's `webhook` with a script that does what many do: keep the body, and forward it with curl. */
async function startDaemon(program: string): Promise<Target> {
  const peers = await startScript("alert-peers.ts", ["5"]);
  const directory = mkdtempSync(join(tmpdir(), "opsctl-bench-"));
  const script = join(directory, "alert.sh");
  const text = [
    "#!/bin/sh",
    `printf '%s\\n' "$1" >> ${directory}/alerts.log`,
    `text=$(printf '%s' "$1" | jq -r '.alerts[0].labels.alertname')`,
    `curl -s -o /dev/null -H 'content-type: application/json' -d "{\\"number\\":\\"5511912345678\\",\\"text\\":\\"$text\\"}" ${peers.answer}/message/sendText/ops`,
    "echo ok",
  ];
  writeFileSync(script, `${text.join("\n")}\n`, { mode: 0o755 });
  const hooks = [
    {
      id: "webhook",
      "execute-command": script,
      "include-command-output-in-response": true,
      "pass-arguments-to-command": [{ source: "entire-payload" }],
      "trigger-rule": {
        match: { type: "value", value: SECRET, parameter: { source: "header", name: "X-Webhook-Secret" } },
      },
    },
  ];
  const config = join(directory, "hooks.json");
  writeFileSync(config, JSON.stringify(hooks));
  const port = await freePort();
  const child = Bun.spawn([program, "-hooks", config, "-ip", "127.0.0.1", "-port", String(port)], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  await untilListening(port);
  return {
    url: `http://127.0.0.1:${port}/hooks/webhook`,
    pid: child.pid,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
      await peers.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function untilListening(port: number): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  while (performance.now() < deadlineMs) {
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return;
    } catch {
      await Bun.sleep(20);
    }
  }
  throw new Error(`Nothing listens on port ${port}`);
}
