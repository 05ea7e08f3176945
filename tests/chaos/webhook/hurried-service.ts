/**
 * `opsctl webhook serve` as a process of its own, whose clocks and waits pass faster: everything else of it is the real
 * service, from the settings to the state. Started by `startHurriedService`.
 */
import { performance } from "node:perf_hooks";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { CommandContext } from "../../../cli/framework/command.ts";
import { openServeDependencies } from "../../../cli/wiring/webhook/serve.ts";
import { createLog } from "../../../lib/platform/log/log.ts";
import { loadWebhookConfig } from "../../../lib/webhook/config.ts";
import type { Reading } from "../../../lib/webhook/need-restart.ts";
import { Reloader } from "../../../lib/webhook/reload.ts";
import { type ServeOptions, serveWebhook } from "../../../lib/webhook/serve.ts";
import { HASTE, hurriedNowMs } from "./hurried-clock.ts";

const { epochMs, ...options } = JSON.parse(process.argv[2]!) as ServeOptions & { epochMs: number };
const realNowMs = Date.now;
// The state in a file takes its clock from here.
Date.now = () => hurriedNowMs(epochMs, realNowMs());

const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
const stderr = { write: (text: string) => process.stderr.write(text), isTerminal: false };
const log = createLog({ stream: stderr, format: "json", level: "info" });
const { env } = process;
const context = { env, log, interrupted: () => ending.signal } as CommandContext;

const config = await loadWebhookConfig(env);
const limits = { rows: 100_000, bytes: 1_024 * 2 ** 20 };
const { dependencies, close } = await openServeDependencies(
  config,
  limits,
  context,
  new Reloader<Reading>(log),
);
const hurried = {
  nowMs: Date.now,
  monotonicMs: () => performance.now() * HASTE,
  sleep: (ms: number, signal?: AbortSignal) => delay(ms / HASTE, undefined, { signal }),
};
await serveWebhook({ ...dependencies, ...hurried }, options);
await close();
