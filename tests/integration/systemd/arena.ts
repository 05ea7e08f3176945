import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOST, layWire, OPEN_PORT, OTHERS, type Wire } from "../../network/wire.ts";
import { type Gateway, startGateway } from "../../standins/gateway.ts";
import { startTracker, type Tracker } from "../../standins/tracker.ts";
import { bootMachine, type Machine } from "./machine.ts";

export const SECRET = "canary-webhook-secret-0123456789";
const KEY = "canary-gateway-key";
const TOKEN = "lin_api_canarytoken0123456789";
const TEAM = "0f0e0d0c-0b0a-4908-8706-050403020100";
const CLONE = join(import.meta.dirname, "../../..");

export const SERVICE = "opsctl-webhook.service";
export const SOCKET = "opsctl-webhook.socket";

/** A booted machine, all others at the other end of its wire, and gateway and tracker at an address that may not reach it. */
export type Arena = {
  machine: Machine;
  wire: Wire;
  gateway: Gateway;
  tracker: Tracker;
  /** Posts an alert of this name from a container's address; the answer's status. */
  post(name: string): Promise<number>;
  /** The status of a path of port 9301, asked on the machine. */
  admin(path: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Boots the machine and starts gateway and tracker, in a network namespace of this process's own. */
export async function openArena(root: string): Promise<Arena> {
  await using opened = new AsyncDisposableStack();
  const wire = opened.use(await layWire(["unshare", "--net"], { othersWords: [], ports: [OPEN_PORT] }));
  // What this process itself asks comes from a container; gateway and tracker keep a stranger's address.
  await wire.others.must(["ip", "route", "add", HOST.v4, "dev", "wire1", "src", OTHERS.containers[2]!]);
  const gateway = await startGateway({ adminKey: KEY, host: OTHERS.stranger });
  opened.defer(() => gateway.stop());
  const tracker = await startTracker({ token: TOKEN, teamId: TEAM, host: OTHERS.stranger });
  opened.defer(() => tracker.stop());
  const machine = opened.use(await bootMachine(root, wire.host.pid));
  const stack = opened.move();
  return {
    machine,
    wire,
    gateway,
    tracker,
    post,
    admin: (path) =>
      wire.host.must([
        process.execPath,
        "-e",
        `console.log((await fetch("http://127.0.0.1:9301${path}")).status)`,
      ]),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Puts the clone on the machine, and what an operator fills in. */
export async function install({ machine, gateway, tracker }: Arena): Promise<void> {
  const clone = join(machine.path, "opt/opsctl");
  mkdirSync(join(clone, "dist"), { recursive: true });
  const sources = ["Makefile", "package.json", "bun.lock", "cli", "lib", "sql", "systemd", ".ci"];
  for (const name of [...sources, "dist/opsctl", "dist/man", "dist/completions"])
    spawnSync("cp", ["-a", join(CLONE, name), join(clone, name)]);
  await machine.must(["make", "-C", "/opt/opsctl", "install"]);
  writeFileSync(join(machine.path, "etc/opsctl/webhook.env"), settings(gateway, tracker));
  for (const [name, value] of Object.entries({
    WEBHOOK_SECRET: SECRET,
    MESSAGING_API_KEY: KEY,
    ISSUE_TRACKER_TOKEN: TOKEN,
  }))
    await putSecret(machine, name, value);
  const pace =
    "[Service]\nExecStart=\nExecStart=/usr/local/bin/opsctl webhook serve --messages-per-minute 60000\n";
  dropIn(machine, SERVICE, "pace", pace);
}

/** Puts a secret into a file of its own, as an operator does. */
export async function putSecret(machine: Machine, name: string, value: string): Promise<void> {
  writeFileSync(join(machine.path, "root/value"), value);
  const place = `/etc/opsctl/secrets/${name}`;
  await machine.must(["install", "-o", "opsctl", "-g", "opsctl", "-m", "0600", "/root/value", place]);
}

/** A drop-in as `systemctl edit` makes it. */
export function dropIn(machine: Machine, unit: string, name: string, text: string): void {
  const folder = join(machine.path, `etc/systemd/system/${unit}.d`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, `${name}.conf`), text);
}

function settings(gateway: Gateway, tracker: Tracker): string {
  return [
    `MESSAGING_API_URL=${gateway.url}`,
    "MESSAGING_PHONE=5511912345678",
    `ISSUE_TRACKER_URL=${tracker.url}/graphql`,
    `ISSUE_TRACKER_TEAM_ID=${TEAM}`,
    "OPSCTL_ALLOW_PLAIN_HTTP=1\n",
  ].join("\n");
}

async function post(name: string): Promise<number> {
  const labels = { alertname: name, ruleGroup: "vps-infra", severity: "critical" };
  const response = await fetch(`http://${HOST.v4}:9300/webhook`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-webhook-secret": SECRET, connection: "close" },
    body: JSON.stringify({ alerts: [{ status: "firing", labels, annotations: {}, fingerprint: name }] }),
  });
  await response.arrayBuffer();
  return response.status;
}
