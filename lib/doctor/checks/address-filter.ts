import type { DoctorDependencies } from "../context/dependencies.ts";
import { pass, type Verdict, warn } from "../finding.ts";

/** Without a filter systemd writes `[no data]` or `[not set]`. */
const COUNTS = /^IPIngressBytes=\d+$/m;
const DENIES_ALL_OTHERS = /^IPAddressDeny=.*\b0\.0\.0\.0\/0\b/m;

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
  const words = ["show", socket, "--property=ActiveState,IPAddressDeny,IPIngressBytes"];
  const shown = (await runProgram("systemctl", words, signal))?.stdout ?? "";
  if (!/^ActiveState=active$/m.test(shown)) return [];
  if (COUNTS.test(shown) && DENIES_ALL_OTHERS.test(shown))
    return [pass(`systemd keeps strange addresses from port ${webhookPort}`)];
  return [
    warn(
      `systemd filters no addresses for ${socket}: only a firewall keeps strangers from port ${webhookPort}`,
      `systemctl restart ${socket.replace(".socket", ".service")}; if this stays, the host's systemd cannot: see that ` +
        `the firewall closes port ${webhookPort} (ufw status, or nft list ruleset; rules are in /usr/share/opsctl/firewall)`,
    ),
  ];
}
