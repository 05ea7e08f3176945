/** What the installed units do on a booted Debian, step by step; each step returns what systemd said. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { HOST, OPEN_PORT, OTHERS } from "../../network/wire.ts";
import { until } from "../../support/until.ts";
import { type Arena, dropIn, install, openArena, putSecret, SECRET, SERVICE, SOCKET } from "./arena.ts";
import { runSteps } from "./steps.ts";

const UNITS = [SOCKET, SERVICE];
const METRICS = "var/lib/node_exporter/textfile_collector/custom_metrics.prom";
/** cron looks at its file once a minute. */
const CRON_LIMIT_MS = 90_000;

/** The settings of a unit as systemd understood them. */
async function show({ machine }: Arena, unit: string, ...names: string[]): Promise<string> {
  return (await machine.must(["systemctl", "show", unit, `--property=${names.join(",")}`]))
    .split("\n")
    .join(" ");
}

async function outcomes({ wire }: Arena, addresses: string[], port = 9300): Promise<string[]> {
  const results: string[] = [];
  for (const from of addresses)
    results.push(await wire.outcome({ protocol: "tcp", from, to: HOST.v4, port }));
  return [...new Set(results)];
}

const strangers = [OTHERS.stranger, ...OTHERS.beyond];

async function assertClosed(arena: Arena): Promise<void> {
  assert.deepEqual(await outcomes(arena, OTHERS.containers), ["answered"]);
  assert.deepEqual(await outcomes(arena, strangers), ["dropped"]);
  assert.deepEqual(await outcomes(arena, strangers, OPEN_PORT), ["answered"]);
}

/** What doctor says, which has to be true: whether systemd filters the addresses of the socket here. */
async function isFiltered({ machine }: Arena): Promise<boolean> {
  const { output } = await machine.run(["opsctl", "doctor", "webhook", "--json"]);
  const { findings } = JSON.parse(output) as { findings: { check: string; code: string | null }[] };
  assert.ok(findings.filter(({ check }) => check === "unit").length > 4, output);
  return !findings.some(({ code }) => code === "ADDRESS_FILTER_OFF");
}

const NO_FILTER = "NOT TRIED: this systemd filters no addresses here, as doctor says";

async function boots({ machine }: Arena): Promise<string> {
  const [version] = (await machine.must(["systemctl", "--version"])).split(" (");
  const controllers = readFileSync(join(machine.path, "etc/debian_version"), "utf8").trim();
  assert.equal((await machine.run(["systemctl", "is-system-running"])).output, "running");
  return `${version} on Debian ${controllers}, cgroup controllers: ${await machine.must(["cat", "/sys/fs/cgroup/cgroup.controllers"])}`;
}

async function installs(arena: Arena): Promise<string> {
  const { machine } = arena;
  mkdirSync(join(machine.path, METRICS, ".."), { recursive: true, mode: 0o755 });
  await install(arena);
  return machine.must(["find", "/etc/systemd/system", "-name", "opsctl-webhook.*", "-type", "f"]);
}

async function verifies({ machine }: Arena): Promise<string> {
  const { status, output } = await machine.run(["systemd-analyze", "verify", "--man=no", ...UNITS]);
  assert.deepEqual([status, output], [0, ""]);
  const words = ["security", "--no-pager", "--offline=true", `/etc/systemd/system/${SERVICE}`];
  const security = await machine.must(["systemd-analyze", ...words]);
  const exposure = /Overall exposure level[^\n]*: (\d+\.\d)/.exec(security)![1]!;
  assert.ok(Number(exposure) <= 2);
  return `verify says nothing, exposure ${exposure}`;
}

async function isReadyWhenStarted(arena: Arena): Promise<string> {
  const { machine } = arena;
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "enable", "--now", ...UNITS]);
  assert.equal(await arena.admin("/readyz"), "200\n");
  return show(arena, SERVICE, "ActiveState", "SubState", "Type", "NotifyAccess", "NRestarts");
}

async function hasItsLimits(arena: Arena): Promise<string> {
  const names = ["MemoryMax", "MemorySwapMax", "TasksMax", "LimitNOFILE", "OOMScoreAdjust"];
  const said = await show(arena, SERVICE, ...names);
  const [, memory] = /MemoryMax=(\d+)/.exec(said)!;
  const file = "/sys/fs/cgroup/system.slice/opsctl-webhook.service/memory.max";
  const { status, output } = await arena.machine.run(["cat", file]);
  if (status !== 0) return `${said}; NOT TRIED: this kernel's memory controller is not one of cgroup v2`;
  assert.equal(output, memory);
  return `${said}; memory.max ${output}`;
}

async function admitsTheRangesAlone(arena: Arena): Promise<string> {
  if (!(await isFiltered(arena))) {
    assert.deepEqual(await outcomes(arena, strangers), ["answered"]);
    return NO_FILTER;
  }
  await assertClosed(arena);
  await arena.wire.answers(
    { protocol: "tcp", from: "127.0.0.1", to: "127.0.0.1", port: 9300 },
    arena.wire.host,
  );
  return show(arena, SOCKET, "IPAddressAllow", "IPAddressDeny");
}

async function takesAnotherRange(arena: Arena): Promise<string> {
  const { machine } = arena;
  if (!(await isFiltered(arena))) return NO_FILTER;
  dropIn(machine, SOCKET, "range", "[Socket]\nIPAddressAllow=192.168.0.0/16\n");
  await machine.must(["systemctl", "daemon-reload"]);
  const reloaded = await outcomes(arena, ["192.168.1.2"]);
  await machine.must(["systemctl", "restart", SERVICE]);
  assert.deepEqual(await outcomes(arena, ["192.168.1.2", ...OTHERS.containers]), ["answered"]);
  await machine.must(["rm", `/etc/systemd/system/${SOCKET}.d/range.conf`]);
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "restart", SERVICE]);
  await assertClosed(arena);
  return `a drop-in with 192.168.0.0/16: ${reloaded} after the reload, answered once the service was restarted`;
}

async function takesTheListWithAReload(arena: Arena): Promise<string> {
  const { machine } = arena;
  if (!(await isFiltered(arena))) return NO_FILTER;
  // As the unit was before it had a list: the socket is opened without one.
  dropIn(machine, SOCKET, "open", "[Socket]\nIPAddressDeny=\nIPAddressAllow=\n");
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "restart", ...UNITS]);
  assert.equal(await isFiltered(arena), false);
  assert.deepEqual(await outcomes(arena, [...OTHERS.containers, ...strangers]), ["answered"]);
  await machine.must(["rm", `/etc/systemd/system/${SOCKET}.d/open.conf`]);
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "restart", SERVICE]);
  await assertClosed(arena);
  return "without its list the socket answers every address; a reload and a restart of the service close it again";
}

async function delivers({ gateway, tracker, post }: Arena): Promise<string> {
  assert.equal(await post("entrega"), 200);
  await until("the message", () => gateway.accepted.some(({ text }) => text.includes("entrega")));
  await until("the issue", () => tracker.issues.length > 0);
  return `an alert from ${OTHERS.containers[2]} went out to gateway and tracker at ${OTHERS.stranger}, which may not come in`;
}

/** Posts from four senders at once until `work` has ended; the statuses of all answers. */
async function underLoad(
  arena: Arena,
  name: string,
  work: (statuses: readonly (number | string)[]) => Promise<void>,
): Promise<(number | string)[]> {
  const statuses: (number | string)[] = [];
  let isOver = false;
  const worker = async (_: unknown, index: number) => {
    for (let count = 0; !isOver; count += 1)
      statuses.push(await arena.post(`${name} ${index}-${count}`).catch((error: Error) => error.message));
  };
  const workers = Array.from({ length: 4 }, worker);
  await work(statuses).finally(() => {
    isOver = true;
  });
  await Promise.all(workers);
  return statuses;
}

async function reloadsUnderLoad(arena: Arena): Promise<string> {
  const { machine } = arena;
  const before = await show(arena, SERVICE, "MainPID", "NRestarts");
  const said = async (words: string) =>
    (await machine.must(["journalctl", "-b", "--no-pager", "-o", "cat", "-u", SERVICE])).split(words).length -
    1;
  const reload = async (words: string) => {
    const count = await said(words);
    await machine.must(["systemctl", "reload", SERVICE]);
    await until(`the journal says: ${words}`, async () => (await said(words)) > count);
  };
  await putSecret(machine, "WEBHOOK_SECRET_PREVIOUS", SECRET);
  const statuses = await underLoad(arena, "recarga", async (sofar) => {
    for (const round of [1, 2, 3]) {
      await until("answers", () => sofar.length >= round * 40);
      await putSecret(machine, "WEBHOOK_SECRET", `canary-webhook-secret-of-round-${round}`);
      await reload("The settings were read again and are in force");
    }
    await putSecret(machine, "WEBHOOK_SECRET", "");
    await reload("WEBHOOK_SECRET: is missing");
  });
  assert.deepEqual([...new Set(statuses)], [200]);
  await putSecret(machine, "WEBHOOK_SECRET", SECRET);
  await machine.must(["rm", "/etc/opsctl/secrets/WEBHOOK_SECRET_PREVIOUS"]);
  await reload("The settings were read again and are in force");
  assert.equal(await show(arena, SERVICE, "MainPID", "NRestarts"), before);
  return `${statuses.length} alerts during four reloads, all answered 200, by the same process: ${before}`;
}

async function restartsUnderLoad(arena: Arena): Promise<string> {
  const statuses = await underLoad(arena, "carga", async (sofar) => {
    for (const wanted of [50, 100, 150]) {
      await until(`${wanted} answers`, () => sofar.length >= wanted);
      await arena.machine.must(["systemctl", "restart", SERVICE]);
    }
  });
  assert.deepEqual([...new Set(statuses)], [200]);
  const sent = () =>
    new Set(arena.gateway.accepted.flatMap(({ text }) => /\bcarga \d+-\d+/.exec(text) ?? [])).size;
  await until("every message", () => sent() === statuses.length, 60_000);
  return `${statuses.length} alerts during three restarts, all answered 200, all sent`;
}

async function hasACleanJournal({ machine }: Arena): Promise<string> {
  const journal = await machine.must(["journalctl", "-b", "--no-pager", "-o", "cat", "_PID=1"]);
  const lines = journal.split("\n").filter((line) => /opsctl/.test(line));
  const complaints = lines.filter((line) => /unknown|ignor|deprecat|not support|fail|warn/i.test(line));
  assert.deepEqual(complaints, []);
  return `${lines.length} lines of systemd about the units, none of them a complaint`;
}

async function endsInTime(arena: Arena): Promise<string> {
  const startedMs = performance.now();
  await arena.machine.must(["systemctl", "stop", SERVICE]);
  const ms = Math.round(performance.now() - startedMs);
  const said = await show(arena, SERVICE, "ActiveState", "Result", "ExecMainCode", "ExecMainStatus");
  assert.match(said, /ActiveState=inactive/);
  assert.match(said, /Result=success/);
  // The socket listens on: the next connection starts the service.
  assert.equal(await arena.post("depois da parada"), 200);
  return `${said}, stopped in ${ms} ms, started again by a connection`;
}

async function comesBackAfterAKill(arena: Arena): Promise<string> {
  await arena.machine.must(["systemctl", "kill", "--signal=KILL", "--kill-whom=main", SERVICE]);
  assert.equal(await arena.post("depois da morte"), 200);
  return show(arena, SERVICE, "ActiveState", "NRestarts");
}

/** A process that is stopped sends no sign of life, like one that hangs. */
async function isRestartedWhenItHangs(arena: Arena): Promise<string> {
  const { machine } = arena;
  assert.match(await show(arena, SERVICE, "WatchdogUSec"), /=2min$/);
  dropIn(machine, SERVICE, "watchdog", "[Service]\nWatchdogSec=3\nTimeoutAbortSec=2\n");
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "restart", SERVICE]);
  const restarts = async () => (await show(arena, SERVICE, "NRestarts")).split("=")[1];
  const before = await restarts();
  // Longer than the limit: it says that it lives.
  await machine.must(["sleep", "7"]);
  assert.equal(await restarts(), before);
  await machine.must(["systemctl", "kill", "--signal=STOP", "--kill-whom=main", SERVICE]);
  await until("the restart", async () => (await restarts()) !== before, 60_000);
  assert.equal(await arena.post("depois de travar"), 200);
  const journal = await machine.must(["journalctl", "-b", "--no-pager", "-o", "cat", "_PID=1"]);
  assert.match(journal, /opsctl-webhook\.service: Watchdog timeout/);
  const after = await restarts();
  await machine.must(["rm", `/etc/systemd/system/${SERVICE}.d/watchdog.conf`]);
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "restart", SERVICE]);
  return `NRestarts ${before} for 7 s of a limit of 3, then ${after} after a stop of the process`;
}

async function keepsItsStateOverAReboot(arena: Arena): Promise<string> {
  const { machine, gateway } = arena;
  gateway.routes.send.script = () => ({ status: 503, json: {} });
  assert.equal(await arena.post("antes do reboot"), 200);
  await machine.reboot();
  assert.equal((await machine.run(["systemctl", "is-active", ...UNITS])).output, "active\nactive");
  gateway.routes.send.script = null;
  const isSent = () => gateway.accepted.some(({ text }) => text.includes("antes do reboot"));
  await until("the message from before the reboot", isSent, 60_000);
  assert.equal(await machine.must(["systemctl", "--failed", "--plain", "--no-legend"]), "");
  if (await isFiltered(arena)) await assertClosed(arena);
  return "both units are active after it, and what waited is sent";
}

/** The firewalls alone: the socket admits every address meanwhile. */
async function isClosedByFirewalls(arena: Arena): Promise<string> {
  const { machine } = arena;
  const script = "/usr/local/share/opsctl/firewall/opsctl-webhook.ufw.sh";
  dropIn(machine, SOCKET, "open", "[Socket]\nIPAddressDeny=\nIPAddressAllow=\n");
  await machine.must(["systemctl", "daemon-reload"]);
  await machine.must(["systemctl", "restart", ...UNITS]);
  assert.deepEqual(await outcomes(arena, strangers), ["answered"]);
  assert.match((await machine.run([script])).output, /ufw is not active/);
  for (const words of [
    ["allow", `${OPEN_PORT}/tcp`],
    ["allow", "9300"],
    ["--force", "enable"],
  ])
    await machine.must(["ufw", ...words]);
  await machine.must([script]);
  await assertClosed(arena);
  // A rule that a person has put before the script's own: run again, the script puts its own before that one.
  await machine.must(["ufw", "prepend", "allow", "from", OTHERS.stranger]);
  assert.deepEqual(await outcomes(arena, [OTHERS.stranger]), ["answered"]);
  await machine.must([script]);
  await assertClosed(arena);
  await machine.must(["ufw", "disable"]);

  writeFileSync(
    join(machine.path, "etc/nftables.conf"),
    'flush ruleset\ninclude "/usr/local/share/opsctl/firewall/opsctl-webhook.nft"\n',
  );
  await machine.must(["systemctl", "restart", "nftables.service"]);
  await assertClosed(arena);
  await machine.must(["systemctl", "stop", "nftables.service"]);
  return (
    `${await machine.must(["ufw", "--version"])}`.split("\n")[0] +
    " and nftables.service each close 9300, and 22 stays open"
  );
}

async function isRunByCron({ machine }: Arena): Promise<string> {
  const file = join(machine.path, METRICS);
  await until("cron's run of the collector", () => existsSync(file), CRON_LIMIT_MS);
  assert.equal(statSync(file).mode & 0o777, 0o644);
  const up: string[] = readFileSync(file, "utf8").match(/^opsctl_collector_up.*$/gm) ?? [];
  assert.ok(up.includes('opsctl_collector_up{source="sockets"} 1'));
  return `cron ran the collector: ${up.join(", ")}`;
}

async function goesAway({ machine, wire }: Arena): Promise<string> {
  await machine.must(["make", "-C", "/opt/opsctl", "uninstall"]);
  const units = "find /etc/systemd/system -name 'opsctl*' -not -name '*.d' -not -path '*.d/*'";
  assert.equal(await machine.must(["sh", "-c", units]), "");
  const question = { protocol: "tcp", from: OTHERS.containers[0]!, to: HOST.v4, port: 9300 } as const;
  assert.equal(await wire.outcome(question), "refused");
  assert.equal(await machine.must(["systemctl", "--failed", "--plain", "--no-legend"]), "");
  return "nothing listens on 9300, no unit is left or has failed";
}

const STEPS = [
  boots,
  installs,
  verifies,
  isReadyWhenStarted,
  hasItsLimits,
  admitsTheRangesAlone,
  takesAnotherRange,
  takesTheListWithAReload,
  delivers,
  reloadsUnderLoad,
  restartsUnderLoad,
  hasACleanJournal,
  endsInTime,
  comesBackAfterAKill,
  isRestartedWhenItHangs,
  keepsItsStateOverAReboot,
  isClosedByFirewalls,
  isRunByCron,
  goesAway,
];

await runSteps(openArena(process.argv[2]!), STEPS, ({ machine }) => machine);
