import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { JOURNAL } from "../../../health/webhook.ts";
import type { Check } from "../../context/check.ts";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../../finding.ts";

const SERVICE = "opsctl-webhook.service";
const SOCKET = "opsctl-webhook.socket";
const RESTART = "systemctl restart opsctl-webhook.service";
const REOPEN = `systemctl daemon-reload && ${RESTART}`;
const ANYWHERE = "0.0.0.0/0";
/** What an older systemd may write for a counter that there is not, instead of words. */
const NO_NUMBER = String(2n ** 64n - 1n);

const PROPERTIES = [
  ...(["UnitFileState", "ActiveState", "ProtectSystem", "ReadWritePaths", "StateDirectory"] as const),
  ...(["IPAccounting", "IPAddressAllow", "IPAddressDeny", "IPIngressBytes"] as const),
] as const;

/** What systemd says of a unit, property by property; the empty text for one that it does not say. */
type Unit = Record<(typeof PROPERTIES)[number], string>;

/** Whether the webhook's units are installed, start at boot and run, and whether its socket is closed to strangers. */
export const WEBHOOK_UNIT_CHECK: Check = {
  command: "webhook",
  name: "unit",
  runsAsRoot: true,
  async run({ dependencies }, signal) {
    const { unitDirs } = dependencies.paths;
    const installed = await Promise.all([SOCKET, SERVICE].map((unit) => installedResult(unitDirs, unit)));
    if (installed.some(({ status }) => status !== "pass")) return installed;
    const files = [...installed, ...(await loadedSettings(unitDirs))];
    const socket = await readUnit(dependencies, SOCKET, signal);
    const service = await readUnit(dependencies, SERVICE, signal);
    if (socket.ActiveState === "") return [...files, NO_SYSTEMD];
    return [
      ...files,
      ...[enabledResult(SOCKET, socket), enabledResult(SERVICE, service)],
      ...[activeResult(SOCKET, socket), activeResult(SERVICE, service)],
      ...(socket.ActiveState === "active" ? [filterResult(socket)] : []),
    ];
  },
};

const NO_SYSTEMD = notChecked(
  "SYSTEMD_MISSING",
  "systemd does not run on this host, so it cannot say what is enabled and active",
);

async function readUnit(
  { runProgram }: Pick<DoctorDependencies, "runProgram">,
  unit: string,
  signal: AbortSignal,
): Promise<Unit> {
  const end = await runProgram("systemctl", ["show", unit, `--property=${PROPERTIES.join(",")}`], signal);
  const read = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(end?.stdout ?? "")?.[1] ?? "";
  return Object.fromEntries(PROPERTIES.map((name) => [name, read(name)])) as Unit;
}

async function installedResult(unitDirs: readonly string[], unit: string): Promise<CheckResult> {
  for (const path of unitDirs.map((dir) => join(dir, unit)))
    if ((await stat(path).catch(() => null)) !== null) return pass(`${path} is installed`);
  return fail(
    "UNIT_MISSING",
    `${unit} is not installed`,
    command("systemctl daemon-reload", "Install the package of opsctl again; in a clone make install, then:"),
  );
}

/** A warning for each unit file or drop-in that loads settings: no reload changes what the process gets from there. */
async function loadedSettings(unitDirs: readonly string[]): Promise<CheckResult[]> {
  const files = unitDirs.map(async (dir) => {
    const dropIns = join(dir, `${SERVICE}.d`);
    const names = (await readdir(dropIns).catch(() => [])).filter((name) => name.endsWith(".conf"));
    return [join(dir, SERVICE), ...names.map((name) => join(dropIns, name))];
  });
  const results = (await Promise.all(files)).flat().map(async (path) => {
    const text = await readFile(path, "utf8").catch(() => "");
    if (!/^EnvironmentFile=./m.test(text)) return [];
    const reason = `${path} has EnvironmentFile=: a reload does not change what is in it`;
    return [warn("UNIT_LOADS_SETTINGS", reason, command(REOPEN, "Remove that line, then:"))];
  });
  return (await Promise.all(results)).flat();
}

const ENABLED: readonly string[] = ["enabled", "enabled-runtime", "static", "alias", "indirect", "generated"];

function enabledResult(name: string, { UnitFileState: state }: Unit): CheckResult {
  if (ENABLED.includes(state)) return pass(`${name} is ${state}`);
  return warn("UNIT_DISABLED", `${name} is ${state}`, command(`systemctl enable ${name}`));
}

function activeResult(name: string, { ActiveState: state }: Unit): CheckResult {
  if (state === "active" || state === "reloading") return pass(`${name} is ${state}`);
  // It ends and is started again and again: the journal says why, another start does not.
  const fix = name === SERVICE && state === "activating" ? JOURNAL : command(`systemctl start ${name}`);
  return warn("UNIT_INACTIVE", `${name} is ${state}`, fix);
}

/**
 * Whether systemd keeps strange addresses from the socket, as its unit asks.
 *
 * Behaviour: the unit counts its packets (IPAccounting=yes), and only what filters can count. A kernel without
 *            CONFIG_CGROUP_BPF, and a container that may not load filters, go on without, and only the journal says it.
 * Source:    systemd.resource-control(5), IPAccounting= and IPAddressAllow=.
 */
function filterResult(socket: Unit): CheckResult {
  const { IPAddressDeny: deny, IPAddressAllow: allow, IPAccounting, IPIngressBytes: bytes } = socket;
  const admits = (addresses: string) => addresses.split(" ").includes(ANYWHERE);
  const alone = "only a firewall keeps strangers from its port";
  if (!admits(deny) || admits(allow))
    return warn("ADDRESS_FILTER_OFF", `${SOCKET} admits every address: ${alone}`, OPEN_BY_ITS_UNIT);
  if (IPAccounting !== "yes")
    return notChecked(
      "ADDRESS_FILTER_UNKNOWN",
      `whether systemd keeps strange addresses from ${SOCKET}, which has no IPAccounting=yes`,
      command(REOPEN, "Bring it to the unit of this version (systemctl cat shows it), then:"),
    );
  return /^\d+$/.test(bytes) && bytes !== NO_NUMBER
    ? pass(`systemd keeps strange addresses from ${SOCKET}`)
    : warn("ADDRESS_FILTER_OFF", `systemd filters no addresses for ${SOCKET}: ${alone}`, UNFILTERED);
}

const OPEN_BY_ITS_UNIT = command(
  REOPEN,
  "Take out of its unit (systemctl cat) what changes IPAddressDeny or IPAddressAllow, then:",
);
const UNFILTERED = command(
  RESTART,
  "If a restart does not help, the host's systemd cannot: then see that the firewall closes the port (ufw status, " +
    "or nft list ruleset; rules are in /usr/share/opsctl/firewall)",
);

/** Whether systemd keeps the service running, also where it ends and is started again and again. */
export async function isStarted(dependencies: DoctorDependencies, signal: AbortSignal): Promise<boolean> {
  const { ActiveState: state } = await readUnit(dependencies, SERVICE, signal);
  return ["active", "activating", "reloading"].includes(state);
}

/**
 * A failure when systemd lets the service write nowhere in this directory, whatever its owner and mode are.
 *
 * Behaviour: nothing where the unit closes nothing, or systemd does not say.
 * Source:    systemd.exec(5), ProtectSystem=strict, ReadWritePaths= (each path may begin with - and +),
 *            StateDirectory=.
 */
export async function readOnlyResults(
  dependencies: DoctorDependencies,
  directory: string,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const { ProtectSystem, ReadWritePaths, StateDirectory } = await readUnit(dependencies, SERVICE, signal);
  const words = (value: string) => value.split(" ").filter((word) => word !== "");
  const open = [
    ...words(ReadWritePaths).map((path) => path.replace(/^[-+]+/, "")),
    ...words(StateDirectory).map((name) => join("/var/lib", name)),
  ];
  if (ProtectSystem !== "strict" || open.some((path) => !/^\.\.(\/|$)/.test(relative(path, directory))))
    return [];
  const reason = `${directory}: the unit lets the service write nowhere but in ${open.join(" and ")}`;
  return [fail("STATE_DIRECTORY_READ_ONLY", reason, OPEN_DIRECTORY)];
}

const OPEN_DIRECTORY = command(
  `systemctl edit opsctl-webhook.service && ${RESTART}`,
  "Write ReadWritePaths= with that directory below [Service]:",
);
