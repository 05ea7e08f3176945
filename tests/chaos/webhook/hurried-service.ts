/**
 * `opsctl webhook serve` as a process of its own, whose clocks and waits pass faster: everything else of it is the real
 * service, from the settings to the state. Started by `troubleChannels`.
 */
import { performance } from "node:perf_hooks";
import process from "node:process";
import { openServeDependencies, SERVE_CONDITIONS } from "../../../cli/wiring/webhook/serve.ts";
import { createLog } from "../../../lib/platform/log/log.ts";
import { loadWebhookConfig } from "../../../lib/webhook/config.ts";
import { type Reading, Reloader } from "../../../lib/webhook/reload.ts";
import { type ServeOptions, serveWebhook } from "../../../lib/webhook/serve.ts";
import { OUTBOX_LIMITS } from "../../../lib/webhook/store/model.ts";
import { HASTE, hurriedNowMs } from "./hurried-clock.ts";

const { epochMs, ...options } = JSON.parse(process.argv[2]!) as ServeOptions & { epochMs: number };
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
const stderr = { write: (text: string) => process.stderr.write(text), isTerminal: false };
const log = createLog({ stream: stderr, format: "json", level: "info" });
const { env } = process;

const config = await loadWebhookConfig(env);
const { dependencies, close } = await openServeDependencies(
  config,
  OUTBOX_LIMITS,
  {
    log,
    env,
    interrupted: () => ending.signal,
    readSettings: () => ({ env, path: null, isThere: false, names: [], repeated: [], hidden: [] }),
  },
  new Reloader<Reading>(log),
  {
    ...SERVE_CONDITIONS,
    nowMs: () => hurriedNowMs(epochMs, Date.now()),
    monotonicMs: () => performance.now() * HASTE,
    sleep: (ms, signal) => SERVE_CONDITIONS.sleep(ms / HASTE, signal),
  },
);
await serveWebhook(dependencies, options);
await close();
