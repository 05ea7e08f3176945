/** What the collector's tests have in common: real sources on stand-ins, with limits of their choice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTextDirectory } from "../../../lib/host/text-directory.ts";
import type { CollectDependencies } from "../../../lib/metrics/run.ts";
import { loadCollectConfig, SOURCES } from "../../../lib/metrics/sources.ts";
import { lockPathOf } from "../../../lib/metrics/write.ts";
import { type Engine, type EngineName, runningContainer, startEngine } from "../../standins/docker-engine.ts";
import { type Hosting, projectOf, startHosting } from "../../standins/hosting.ts";

/** The provider's token in the arena. */
export const TOKEN = "canary-hosting-token-0123456789";

/** The peers, a folder for files and heartbeat, and the variables that lead to them. */
export type CollectArena = {
  engine: Engine;
  hosting: Hosting;
  folder: string;
  env: Record<string, string>;
  dependencies(limitsMs?: Record<string, number>): Promise<CollectDependencies>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts an engine with a proxy of 500 MiB and a provider with one good and one failed project. */
export async function openCollectArena(parts: { kind?: EngineName } = {}): Promise<CollectArena> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-collect-"));
  const unixSocket = join(folder, "docker.sock");
  const engine = await startEngine({ unixSocket, containers: { traefik: runningContainer() }, ...parts });
  const projects = [projectOf("blog", "READY"), projectOf("loja", "ERROR", "READY")];
  const hosting = await startHosting({ token: TOKEN, projects });
  const env = {
    TEXTFILE_DIR: folder,
    OPSCTL_LOG_DIR: folder,
    DOCKER_HOST: `unix://${unixSocket}`,
    HOSTING_API_URL: hosting.url,
    HOSTING_TOKEN: TOKEN,
    HOSTING_PROJECTS: "2",
    PATH: process.env.PATH ?? "",
  };
  return {
    ...{ engine, hosting, folder, env },
    dependencies: async (limitsMs = {}) => ({
      sources: SOURCES.map((source) => ({ ...source, limitMs: limitsMs[source.name] ?? 60_000 })),
      settings: await loadCollectConfig({ ...env, OPSCTL_ALLOW_PLAIN_HTTP: "1" }),
      env,
      log: { debug() {}, warn() {}, error() {} },
      nowMs: () => 1_795_275_009_961,
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all([engine.stop(), hosting.stop()]);
      rmSync(lockPathOf(findTextDirectory(folder)), { force: true });
      rmSync(folder, { recursive: true });
    },
  };
}
