/** Files and links that another account prepared for root: root opens, follows and executes none of them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
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
import { type CollectArena, openCollectArena } from "../../metrics/support/dependencies.ts";
import { giveAway, OTHER_UID } from "../../platform/support/other-account.ts";
import { type AccountHost, openAccountHost } from "../../support/account-host.ts";
import { requires } from "../../support/requires.ts";
import { gaugesOf } from "../../text/support/prometheus-parser.ts";
import { logLines, opsctl, startProgram } from "../support/opsctl.ts";

const { test } = requires("root");
/** Where every account may start the binary, and root's locks are of the test alone. */
const inNamespace = requires("account").test;

const VICTIM = "what root alone may change\n".repeat(100);
/** How often a command is run while another account exchanges its files. */
const ROUNDS = 12;

let folder: string;
let victim: string;
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
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
}

/** Repeats the attempt while the other account exchanges names in its directory, thousands of times a second. */
async function during(perl: string, attempt: () => Promise<unknown>): Promise<void> {
  const identity = [`--reuid=${OTHER_UID}`, `--regid=${OTHER_UID}`, "--clear-groups"];
  const attacker = spawn("setpriv", [...identity, "perl", "-e", `while (1) { ${perl} }`], {
    stdio: "ignore",
  });
  try {
    for (let round = 0; round < ROUNDS; round += 1) await attempt();
  } finally {
    attacker.kill("SIGKILL");
  }
}

describe("the state, as root", () => {
  const deadList = (state: string) =>
    opsctl(["webhook", "dead", "list", "--json"], { runtime: "binary", env: { OPSCTL_STATE_DIR: state } });
  const refused = async (state: string) => {
    const { exitCode, json } = await deadList(state);
    expect([exitCode, json]).toMatchObject([3, { error: { code: "STATE_UNAVAILABLE" } }]);
    victimIsWhole();
    return (json.error as { hint: string }).hint;
  };

  test("a state in a directory of another account is refused, and what its lock links to is not emptied", async () => {
    const state = directory("state", 0o700);
    symlinkSync(victim, join(state, "state.lock"));
    giveAway(state, join(state, "state.lock"));
    expect(await refused(state)).toContain("runuser --pty -u <account>");
    expect(readdirSync(state)).toEqual(["state.lock"]);
  });

  test.each([0o770, 0o1777])("a state in a directory of mode 0o%o is refused", async (mode) => {
    const state = directory("state", mode);
    expect(await refused(state)).toContain("chmod go-w");
    expect(readdirSync(state)).toEqual([]);
  });
});

describe("collect-metrics, as root", () => {
  let arena: CollectArena;
  let host: AccountHost;
  beforeAll(async () => {
    arena = await openCollectArena();
    host = openAccountHost();
  });
  afterAll(async () => {
    host[Symbol.dispose]();
    await arena[Symbol.asyncDispose]();
  });

  const collect = async (textfileDir: string, { through = [] as string[], env = {} } = {}) => {
    const words = [...through, ...(await host.opsctl("binary", ["collect-metrics", "--json"]))];
    const all = { ...arena.env, TEXTFILE_DIR: textfileDir, OPSCTL_LOG_DIR: folder, ...env };
    // A file system of its own for root's locks, which outlive a run.
    return await startProgram(host.inside(words, "mount -t tmpfs none /run"), { env: all }).ended;
  };

  inNamespace(
    "writes into another account's directory as that account, and leaves nothing of root's there",
    async () => {
      const text = directory("text");
      giveAway(text);
      const { exitCode, stderr } = await collect(text);
      expect(exitCode, stderr).toBe(0);
      const file = join(text, "custom_metrics.prom");
      expect(readdirSync(text)).toEqual(["custom_metrics.prom"]);
      expect(statSync(file)).toMatchObject({ uid: OTHER_UID, mode: 0o100644 });
      const names = gaugesOf(readFileSync(file, "utf8")).map(({ name }) => name);
      expect(names).toContain("tcp_sockets_total");
    },
  );

  inNamespace("has no more power there than that account: what is closed to it stays as it is", async () => {
    const text = directory("text", 0o555);
    giveAway(text);
    const { exitCode, json } = await collect(text);
    expect([exitCode, json]).toMatchObject([1, { error: { code: "METRICS_FILE_UNWRITABLE" } }]);
    expect((json.error as { message: string }).message).toContain("EACCES");
    expect(readdirSync(text)).toEqual([]);
  });

  inNamespace(
    "says what keeps root from writing as the account, in a container that drops the privilege",
    async () => {
      const text = directory("text");
      giveAway(text);
      const { exitCode, json } = await collect(text, { through: ["setpriv", "--bounding-set=-setgid"] });
      expect([exitCode, readdirSync(text)]).toEqual([1, []]);
      expect((json.error as { message: string }).message).toContain("CAP_SETGID");
    },
  );

  inNamespace("writes there with the few capabilities that it needs", async () => {
    const text = directory("text");
    giveAway(text);
    const kept = "-all,+setuid,+setgid,+dac_read_search";
    const through = ["setpriv", "--no-new-privs", `--bounding-set=${kept}`, `--inh-caps=${kept}`];
    const { exitCode, stderr } = await collect(text, { through });
    expect(exitCode, stderr).toBe(0);
    expect(statSync(join(text, "custom_metrics.prom")).uid).toBe(OTHER_UID);
  });

  inNamespace(
    "puts nothing elsewhere while the account exchanges what is in its directory, and the directory",
    async () => {
      const home = directory("home");
      const text = directory("home/text");
      const elsewhere = directory("elsewhere");
      giveAway(home, text);
      const exchange = `rename "${text}", "${text}.2"; symlink "${elsewhere}", "${text}"; unlink "${text}"; rename "${text}.2", "${text}";`;
      const plant = `symlink "${victim}", "${text}/.opsctl-collect.lock"; unlink "${text}/.opsctl-collect.lock";`;
      await during(plant + exchange, () => collect(text));
      victimIsWhole();
      expect(readdirSync(elsewhere)).toEqual([]);
    },
  );

  inNamespace("writes into a directory that its owner shares with a group", async () => {
    const home = directory("home", 0o775);
    const text = directory("home/text", 0o775);
    giveAway(home, text);
    const { exitCode, stderr } = await collect(text);
    expect(exitCode, stderr).toBe(0);
    expect(statSync(join(text, "custom_metrics.prom"))).toMatchObject({ uid: OTHER_UID, mode: 0o100644 });
  });

  inNamespace(
    "reads no file that the last-run file of the account links to, and waits for no pipe",
    async () => {
      const log = directory("log");
      const lastRun = join(log, "weekly_performance_reports.last.json");
      symlinkSync(victim, lastRun);
      giveAway(log, lastRun);
      const heartbeat = ({ json }: { json: Record<string, unknown> }) =>
        (json.sources as { source: string; error: { code: string } }[]).find(
          ({ source }) => source === "heartbeat",
        )?.error.code;
      const linked = await collect(directory("text"), { env: { OPSCTL_LOG_DIR: log } });
      expect(heartbeat(linked)).toBe("last_run_unreadable");
      expect(linked.stdout + linked.stderr).not.toContain(VICTIM.slice(0, 20));
      rmSync(lastRun);
      spawnSync("mkfifo", ["-m", "666", lastRun]);
      expect(heartbeat(await collect(directory("text"), { env: { OPSCTL_LOG_DIR: log } }))).toBe(
        "last_run_unreadable",
      );
    },
  );

  inNamespace("does not write where an account could exchange a directory on the way", async () => {
    const home = directory("home");
    const text = directory("home/text");
    giveAway(home);
    const { exitCode, json } = await collect(text);
    expect([exitCode, json]).toMatchObject([3, { error: { code: "TEXTFILE_DIR_UNTRUSTED" } }]);
    expect(readdirSync(text)).toEqual([]);
  });

  inNamespace("does not write where one account leads it into a directory of another one", async () => {
    const home = directory("home");
    const text = directory("text");
    chownSync(text, OTHER_UID + 1, OTHER_UID + 1);
    symlinkSync(text, join(home, "text"));
    giveAway(home);
    const { exitCode, json } = await collect(join(home, "text"));
    expect([exitCode, json]).toMatchObject([3, { error: { code: "TEXTFILE_DIR_UNTRUSTED" } }]);
    expect(readdirSync(text)).toEqual([]);
  });

  inNamespace("sends no file that a secret of another account's directory links to", async () => {
    const secrets = directory("secrets");
    symlinkSync(victim, join(secrets, "HOSTING_TOKEN"));
    giveAway(secrets, join(secrets, "HOSTING_TOKEN"));
    const asked = arena.hosting.ledger.length;
    const env = { HOSTING_TOKEN: "", OPSCTL_SECRETS_DIR: secrets };
    const { exitCode, stderr } = await collect(directory("text"), { env });
    expect(exitCode).toBe(1);
    expect(logLines(stderr)).toMatchObject([{ source: "hosting", code: "SECRET_FILE_UNTRUSTED" }]);
    expect(arena.hosting.ledger.length).toBe(asked);
  });

  inNamespace("does not take a link of the account's for the heartbeat", async () => {
    const log = directory("log");
    symlinkSync(victim, join(log, "weekly_performance_reports.success"));
    giveAway(log);
    const { json } = await collect(directory("text"), { env: { OPSCTL_LOG_DIR: log } });
    expect(json.sources).toContainEqual(
      expect.objectContaining({ source: "heartbeat", up: false, samples: 0 }),
    );
  });
});
