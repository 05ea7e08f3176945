/** A service whose store takes nothing: what its tests of degraded mode have in common. */
import { describe, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { requires } from "../../support/requires.ts";
import { alertOf, type Service, type ServiceOptions, type Store, startService } from "./start-service.ts";

/** The gateway refuses a message, and only that one. */
const REFUSED: Scripted = { status: 413, json: { status: 413, error: "Payload Too Large" } };

/** Defines a test for each store that can fail on this machine: a full disk, a database that is unavailable. */
export function onFailingStores(title: string, run: (store: Store) => Promise<void>): void {
  requires("mount").describe("a full disk", () => void test(title, () => run("sqlite")));
  describe("a database that is unavailable", () => void test(title, () => run("postgres")));
}

/** How long a call waits for a database that is unavailable: the tests wait as well. */
const STORE_LIMIT_MS = 2_000;

/** Starts a service whose store can fail. */
export async function startFailing(options: ServiceOptions = {}): Promise<Service> {
  return await startService({ canFail: true, storeLimitMs: STORE_LIMIT_MS, ...options });
}

/** Starts a service whose store takes nothing, and lets the service find that out. */
export async function startDegraded(options: ServiceOptions = {}): Promise<Service> {
  const service = await startFailing(options);
  await loseStore(service);
  return service;
}

const LOST = "Store lost";
/** Large, so that what is free in a file on a full disk is soon used up. */
const LOST_ALERT = alertOf(LOST, { status: "resolved", annotations: { description: "x".repeat(60_000) } });

/** Makes the store fail, and posts until the service sends from memory: of a database's loss the first post hears. */
export async function loseStore(service: Service): Promise<void> {
  service.failStore();
  while ((await service.post([LOST_ALERT])).body.durable !== false);
}

/** Has the gateway refuse the messages of the alert with this name. */
export function refuse({ gateway }: Service, name: string): void {
  gateway.routes.send.scriptByBody = ({ body }) =>
    (body as { text: string }).text.includes(`*${name}*`) ? REFUSED : undefined;
}

/** The names of the messages on the phone, in their order, but for those of `loseStore`. */
export const phone = (service: Service): string[] =>
  service.messages.map(({ name }) => name).filter((name) => name !== LOST);

/** An alert with a severity. */
export const alertWith = (name: string, severity: string): Record<string, unknown> =>
  alertOf(name, { labels: { severity } });
