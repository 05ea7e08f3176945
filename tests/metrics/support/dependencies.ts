/** What the collector's tests have in common: real sources on stand-ins, with limits of their choice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTextDirectory } from "../../../lib/host/text-directory.ts";
import type { CollectDependencies } from "../../../lib/metrics/run.ts";
import { lockPathOf } from "../../../lib/metrics/run-lock.ts";
import type { SourceName } from "../../../lib/metrics/source.ts";
import { heartbeatSource } from "../../../lib/metrics/sources/heartbeat.ts";
import { hostingSource } from "../../../lib/metrics/sources/hosting.ts";
import { proxyMemorySource } from "../../../lib/metrics/sources/proxy-memory.ts";
import { socketsSource } from "../../../lib/metrics/sources/sockets.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { type Engine, runningContainer, startEngine } from "../../standins/docker-engine.ts";
import type { GenerationName } from "../../standins/docker-generations.ts";
import { type Hosting, projectOf, startHosting } from "../../standins/hosting.ts";

/** The provider's token in the arena. */
export const TOKEN = "canary-hosting-token-0123456789";

/** The peers, a folder for files and heartbeat, and the variables that lead to them. */
export type CollectArena = {
  engine: Engine;
  hosting: Hosting;
  folder: string;
  env: Record<string, string>;
  dependencies(limitsMs?: Partial<Record<SourceName, number>>): CollectDependencies;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts an engine with a proxy of 500 MiB and a provider with one good and one failed project. */
export async function openCollectArena(parts: { generation?: GenerationName } = {}): Promise<CollectArena> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-collect-"));
  const unixSocket = join(folder, "docker.sock");
  const engine = await startEngine({ unixSocket, containers: { traefik: runningContainer() }, ...parts });
  const projects = [projectOf("blog", "READY"), projectOf("loja", "ERROR", "READY")];
  const hosting = await startHosting({ token: TOKEN, projects });
  const timeoutMs = 2_000;
  return {
    engine,
    hosting,
    folder,
    env: {
      TEXTFILE_DIR: folder,
      OPSCTL_LOG_DIR: folder,
      DOCKER_HOST: `unix://${unixSocket}`,
      HOSTING_API_URL: hosting.url,
      HOSTING_TOKEN: TOKEN,
      HOSTING_PROJECTS: "2",
      PATH: process.env.PATH ?? "",
    },
    dependencies: (limitsMs) => ({
      sources: {
        sockets: socketsSource(),
        proxy_memory: proxyMemorySource({ address: { unixSocket }, container: "traefik", timeoutMs }),
        hosting: hostingSource({
          baseUrl: new URL(hosting.url),
          teamId: null,
          findToken: async () => new Secret(TOKEN),
          timeoutMs,
          onUnknownState() {},
          onTotal() {},
        }),
        heartbeat: heartbeatSource(folder),
      },
      limitsMs: { sockets: 60_000, proxy_memory: 60_000, hosting: 60_000, heartbeat: 60_000, ...limitsMs },
      nowMs: () => 1_795_275_009_961,
      monotonicMs: () => performance.now(),
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all([engine.stop(), hosting.stop()]);
      rmSync(lockPathOf(findTextDirectory(folder)), { force: true });
      rmSync(folder, { recursive: true });
    },
  };
}
