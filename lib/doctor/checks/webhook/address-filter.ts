import type { DoctorDependencies } from "../../context/dependencies.ts";
import { unitProperties } from "../../facts/unit-properties.ts";
import { command, notChecked, pass, type Verdict, warn } from "../../finding.ts";

const NAMES = ["ActiveState", "IPAccounting", "IPAddressAllow", "IPAddressDeny", "IPIngressBytes"] as const;
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
  dependencies: DoctorDependencies,
  at: Socket,
  signal: AbortSignal,
): Promise<Verdict[]> {
  const shown = await unitProperties(dependencies, { unit: at.socket, names: NAMES, signal });
  if (shown.ActiveState !== "active") return [];
  if (!namesAll(shown.IPAddressDeny) || namesAll(shown.IPAddressAllow)) return [openByItsUnit(at)];
  if (shown.IPAccounting !== "yes") return [uncounted(at)];
  const isCounted = /^\d+$/.test(shown.IPIngressBytes) && shown.IPIngressBytes !== NO_NUMBER;
  return [isCounted ? pass(`systemd keeps strange addresses from port ${at.port}`) : unfiltered(at)];
}

function namesAll(addresses: string): boolean {
  return addresses.split(" ").includes(ALL);
}

type Socket = { socket: string; port: number };

function openByItsUnit({ socket, port }: Socket): Verdict {
  return warn(
    "ADDRESS_FILTER_OFF",
    `${socket} admits every address: ${alone(port)}`,
    command(
      REOPEN,
      "Take out of its unit (systemctl cat) what changes IPAddressDeny or IPAddressAllow, then:",
    ),
  );
}

function uncounted({ socket, port }: Socket): Verdict {
  return notChecked(
    "ADDRESS_FILTER_UNKNOWN",
    `whether systemd keeps strange addresses from port ${port}: ${socket} has no IPAccounting=yes`,
    command(REOPEN, "Bring it to the unit of this version (systemctl cat shows it), then:"),
  );
}

function unfiltered({ socket, port }: Socket): Verdict {
  return warn(
    "ADDRESS_FILTER_OFF",
    `systemd filters no addresses for ${socket}: ${alone(port)}`,
    command(
      RESTART,
      "If a restart does not help, the host's systemd cannot: then see that the firewall closes the port (ufw status, " +
        "or nft list ruleset; rules are in /usr/share/opsctl/firewall)",
    ),
  );
}

function alone(port: number): string {
  return `only a firewall keeps strangers from port ${port}`;
}

const RESTART = "systemctl restart opsctl-webhook.service";
const REOPEN = `systemctl daemon-reload && ${RESTART}`;
