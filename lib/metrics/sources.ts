import type { MetricSource } from "./source.ts";
import { heartbeat } from "./sources/heartbeat.ts";
import { hosting } from "./sources/hosting.ts";
import { proxyMemory } from "./sources/proxy-memory.ts";
import { sockets } from "./sources/sockets.ts";

/**
 * The sources of the collector, in the order in which they are started.
 *
 * Behaviour: those that wait for an external service come first: starting `ss` blocks this process for a tenth of such
 *            a wait.
 */
export const SOURCES: readonly MetricSource[] = [proxyMemory, hosting, sockets, heartbeat];
