import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Check } from "../../context/check.ts";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import { command, fail, notChecked, pass, type Verdict, warn } from "../../finding.ts";
import { addressFilterVerdicts } from "./address-filter.ts";

const of = "webhook";
const SERVICE = "opsctl-webhook.service";
const SOCKET = "opsctl-webhook.socket";
/** The command that shows why the service does not work. */
export const JOURNAL = command("journalctl -u opsctl-webhook.service -n 50");

/** Whether the webhook's units are installed, start at boot and run, and whether its socket is closed to strangers. */
export const WEBHOOK_UNIT_CHECK: Check = {
  command: of,
  name: "unit",
  runsAsRoot: true,
  async run(context, signal) {
    const { dependencies } = context;
    const { port } = await context.webhookPorts();
    const installed = await Promise.all(
      [SOCKET, SERVICE].map((unit) => installedVerdict(dependencies, unit)),
    );
    if (installed.some(({ status }) => status !== "pass")) return installed;
    const asked = await Promise.all([
      askSystemd(dependencies, "is-enabled", SOCKET, signal),
      askSystemd(dependencies, "is-enabled", SERVICE, signal),
      askSystemd(dependencies, "is-active", SOCKET, signal),
      askSystemd(dependencies, "is-active", SERVICE, signal),
    ]);
    // On a host without systemd one verdict is enough, not four.
    const silent = asked.find(({ because }) => because === "not_checked");
    const handed = await handedSettings(dependencies.paths.unitDirs);
    if (silent !== undefined) return [...installed, ...handed, silent];
    return [
      ...installed,
      ...handed,
      ...asked,
      ...(await addressFilterVerdicts(dependencies, { socket: SOCKET, port }, signal)),
    ];
  },
};

async function installedVerdict({ paths }: DoctorDependencies, unit: string): Promise<Verdict> {
  for (const dir of paths.unitDirs) {
    const path = join(dir, unit);
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (isThere) return pass(`${path} is installed`);
  }
  return fail(
    "UNIT_MISSING",
    `${unit} is not installed`,
    command("systemctl daemon-reload", "Install the package of opsctl again; in a clone make install, then:"),
  );
}

/** A warning for each unit file or drop-in that loads settings: what the process gets from there, no reload changes. */
async function handedSettings(unitDirs: readonly string[]): Promise<Verdict[]> {
  const files = await Promise.all(
    unitDirs.map(async (dir) => {
      const dropIns = join(dir, `${SERVICE}.d`);
      const names = await readdir(dropIns).catch(() => []);
      return [
        join(dir, SERVICE),
        ...names.filter((name) => name.endsWith(".conf")).map((name) => join(dropIns, name)),
      ];
    }),
  );
  const verdicts = await Promise.all(files.flat().map(handedBy));
  return verdicts.flat();
}

async function handedBy(path: string): Promise<Verdict[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  if (!/^EnvironmentFile=./m.test(text)) return [];
  return [
    warn(
      "UNIT_LOADS_SETTINGS",
      `${path} has EnvironmentFile=: a reload does not change what is in it`,
      command(
        "systemctl daemon-reload && systemctl restart opsctl-webhook.service",
        "Remove that line, then:",
      ),
    ),
  ];
}

/** Whether systemd keeps the service running, also where it ends and is started again, over and over. */
export async function isStarted(dependencies: DoctorDependencies, signal: AbortSignal): Promise<boolean> {
  const end = await dependencies.runProgram("systemctl", ["is-active", SERVICE], signal);
  return STARTED.includes(end?.stdout.trim() ?? "");
}

const STARTED: readonly string[] = ["active", "activating", "reloading"];

async function askSystemd(
  dependencies: DoctorDependencies,
  question: "is-enabled" | "is-active",
  unit: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const end = await dependencies.runProgram("systemctl", [question, unit], signal);
  const answer = end?.stdout.trim() ?? "";
  if (end === null) return notChecked("SYSTEMD_MISSING", "this host has no systemctl");
  if (answer === "" || answer === "offline" || answer === "unknown")
    return notChecked(
      "SYSTEMD_MISSING",
      "systemd does not run on this host, so it cannot say what is enabled and active",
    );
  if (end.status === 0) return pass(`${unit} is ${answer}`);
  // It ends and is started again, over and over: the journal says why, another start does not.
  if (unit === SERVICE && answer === "activating")
    return warn("UNIT_INACTIVE", `${unit} is ${answer}`, JOURNAL);
  return question === "is-enabled"
    ? warn("UNIT_DISABLED", `${unit} is ${answer}`, command(`systemctl enable ${unit}`))
    : warn("UNIT_INACTIVE", `${unit} is ${answer}`, command(`systemctl start ${unit}`));
}
