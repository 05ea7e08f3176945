import { type CheckResult, command, fail, notChecked, pass, warn } from "../../health/result.ts";
import { START } from "../../health/webhook.ts";
import type { Check, CheckContext } from "../context.ts";

const SERVICE = "opsctl-webhook.service";
const SOCKET = "opsctl-webhook.socket";
const RESTART = "systemctl restart opsctl-webhook.service";
const ANYWHERE = "0.0.0.0/0";
/** What an older systemd may write for a counter that there is not, instead of words. */
const NO_NUMBER = String(2n ** 64n - 1n);

const PROPERTIES = [
  ...(["Id", "LoadState", "UnitFileState", "ActiveState", "EnvironmentFiles"] as const),
  ...(["IPAddressAllow", "IPAddressDeny", "IPIngressBytes"] as const),
] as const;

/** What systemd says of a unit, property by property; the empty text for one that it does not say. */
type Unit = Record<(typeof PROPERTIES)[number], string>;

/** Whether the webhook's units are installed, start at boot and run, and whether its socket is closed to strangers. */
export const WEBHOOK_UNIT_CHECK: Check = {
  command: "webhook",
  name: "unit",
  async run(context, signal) {
    const units = await readUnits(context, signal);
    const socket = units.find(({ Id }) => Id === SOCKET);
    const service = units.find(({ Id }) => Id === SERVICE);
    if (socket === undefined || service === undefined) return [NO_SYSTEMD];
    const missing = units.filter(({ LoadState }) => LoadState === "not-found");
    if (missing.length > 0)
      return missing.map(({ Id }) => fail("UNIT_MISSING", `${Id} is not installed`, INSTALL));
    return [
      ...units.flatMap((unit) => [enabledResult(unit), activeResult(unit)]),
      ...(service.EnvironmentFiles === "" ? [] : [LOADS_SETTINGS]),
      ...(socket.ActiveState === "active" ? [filterResult(socket)] : []),
    ];
  },
};

const NO_SYSTEMD = notChecked(
  "SYSTEMD_MISSING",
  "systemd does not run on this host, so it cannot say what is enabled and active",
);
const INSTALL = command(
  "systemctl daemon-reload",
  "Install the package of opsctl again; in a clone make install, then:",
);
const LOADS_SETTINGS = warn(
  "UNIT_LOADS_SETTINGS",
  `${SERVICE} has EnvironmentFile=: a reload does not change what is in it`,
  command(`systemctl daemon-reload && ${RESTART}`, "Remove that line (systemctl cat shows it), then:"),
);

/** Both units as systemd shows them; none where it does not run. */
async function readUnits(
  { dependencies: { systemctl } }: CheckContext,
  signal: AbortSignal,
): Promise<Unit[]> {
  const words = ["show", SOCKET, SERVICE, `--property=${PROPERTIES.join(",")}`];
  const shown = await systemctl(words, signal);
  return shown.split("\n\n").map((text) => {
    const read = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(text)?.[1] ?? "";
    return Object.fromEntries(PROPERTIES.map((name) => [name, read(name)])) as Unit;
  });
}

const ENABLED: readonly string[] = ["enabled", "enabled-runtime", "static", "alias", "indirect", "generated"];

function enabledResult({ Id, UnitFileState: state }: Unit): CheckResult {
  if (ENABLED.includes(state)) return pass(`${Id} is ${state}`);
  const fix = command("systemctl enable opsctl-webhook.socket opsctl-webhook.service");
  return warn("UNIT_DISABLED", `${Id} is ${state}`, fix);
}

function activeResult({ Id, ActiveState: state }: Unit): CheckResult {
  if (state === "active" || state === "reloading") return pass(`${Id} is ${state}`);
  return fail("UNIT_INACTIVE", `${Id} is ${state}`, START);
}

/**
 * Whether systemd keeps strange addresses from the socket, as its unit asks.
 *
 * Behaviour: the unit counts its packets (IPAccounting=yes), and only what filters can count. A kernel without
 *            CONFIG_CGROUP_BPF, and a container that may not load filters, go on without, and only the journal says it.
 * Source:    systemd.resource-control(5), IPAccounting= and IPAddressAllow=.
 */
function filterResult({ IPAddressDeny, IPAddressAllow, IPIngressBytes }: Unit): CheckResult {
  const admits = (addresses: string) => addresses.split(" ").includes(ANYWHERE);
  const isCounted = /^\d+$/.test(IPIngressBytes) && IPIngressBytes !== NO_NUMBER;
  if (admits(IPAddressDeny) && !admits(IPAddressAllow) && isCounted)
    return pass(`systemd keeps strange addresses from ${SOCKET}`);
  const reason = `systemd filters no addresses for ${SOCKET}: only a firewall closes its port`;
  return warn("ADDRESS_FILTER_OFF", reason, UNFILTERED);
}

const UNFILTERED = command(
  `systemctl daemon-reload && ${RESTART}`,
  "Take out of its unit (systemctl cat) what changes IPAddressDeny, IPAddressAllow or IPAccounting; if systemd cannot " +
    "filter, see that the firewall closes the port (rules are in /usr/share/opsctl/firewall), then:",
);
