import type { DoctorDependencies } from "../../context/dependencies.ts";
import { notChecked, pass, type Verdict, warn } from "../../finding.ts";

const PROPERTIES = ["ActiveState", "IPAccounting", "IPAddressAllow", "IPAddressDeny", "IPIngressBytes"];
const ALL = "0.0.0.0/0";
/** What an older systemd may write for a counter that there is not, instead of words. */
const NO_NUMBER = String(2n ** 64n - 1n);

/**
 * Whether systemd keeps strange addresses from this socket, as its unit asks; nothing of a socket that is not open.
 *
 * Behaviour: the unit counts its packets (IPAccounting=yes), and only what filters can count. A kernel without
 *            CONFIG_CGROUP_BPF, and a container that may not load filters, go on without, and only the journal says it.
 * Source:    systemd.resource-control(5), IPAccounting= and IPAddressAllow=.
 */
export async function addressFilterVerdicts(
  { runProgram, webhookPort }: DoctorDependencies,
  socket: string,
  signal: AbortSignal,
): Promise<Verdict[]> {
  const words = ["show", socket, `--property=${PROPERTIES.join(",")}`];
  const shown = (await runProgram("systemctl", words, signal))?.stdout ?? "";
  const [state, accounting, allowed, denied, bytes] = PROPERTIES.map((name) => propertyOf(name, shown));
  if (state !== "active") return [];
  const at = { socket, port: webhookPort };
  if (!namesAll(denied) || namesAll(allowed)) return [openByItsUnit(at)];
  if (accounting !== "yes") return [uncounted(at)];
  const isCounted = /^\d+$/.test(bytes ?? "") && bytes !== NO_NUMBER;
  return [isCounted ? pass(`systemd keeps strange addresses from port ${webhookPort}`) : unfiltered(at)];
}

function propertyOf(name: string, shown: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, "m").exec(shown)?.[1];
}

function namesAll(addresses = ""): boolean {
  return addresses.split(" ").includes(ALL);
}

type Socket = { socket: string; port: number };

function openByItsUnit({ socket, port }: Socket): Verdict {
  return warn(
    `${socket} admits every address: ${alone(port)}`,
    `systemctl cat ${socket}: take out what changes IPAddressDeny or IPAddressAllow, then ${reopening(socket)}`,
  );
}

function uncounted({ socket, port }: Socket): Verdict {
  return notChecked(
    `whether systemd keeps strange addresses from port ${port}: ${socket} has no IPAccounting=yes`,
    `systemctl cat ${socket}: bring it to the unit of this version, then ${reopening(socket)}`,
  );
}

function unfiltered({ socket, port }: Socket): Verdict {
  return warn(
    `systemd filters no addresses for ${socket}: ${alone(port)}`,
    `${restart(socket)}; if this stays, the host's systemd cannot: see that the firewall closes port ${port} ` +
      "(ufw status, or nft list ruleset; rules are in /usr/share/opsctl/firewall)",
  );
}

function alone(port: number): string {
  return `only a firewall keeps strangers from port ${port}`;
}

function reopening(socket: string): string {
  return `systemctl daemon-reload and ${restart(socket)}`;
}

function restart(socket: string): string {
  return `systemctl restart ${socket.replace(".socket", ".service")}`;
}
