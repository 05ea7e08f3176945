/** `opsctl secret` on a terminal and on a pipe, as root on a host with the account. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { chmodSync, chownSync, copyFileSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SecretList } from "../../../lib/secret/list.ts";
import { ACCOUNT, type AccountHost, openAccountHost } from "../../support/account-host.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { requires } from "../../support/requires.ts";
import { type Ended, startProgram } from "../support/opsctl.ts";
import { type OnTerminal, startOnTerminal } from "../support/terminal.ts";

const { test } = requires("account");
const URL = "postgres://owner:canary-word@db.example.com/app";
const TOKEN = "canary-token-1234";

let host: AccountHost;
beforeAll(() => {
  host = openAccountHost();
});
afterAll(() => host[Symbol.dispose]());

/** A host with an /etc of its own: its directories of secrets are made when they are needed. */
type Etc = {
  path(...parts: string[]): string;
  words(args: string[], through?: string[], before?: string): Promise<string[]>;
};

function etcOf(name: string): Etc {
  const etc = host.make(name);
  for (const file of ["passwd", "group"]) copyFileSync(host.path(file), join(etc, file));
  mkdirSync(join(etc, "opsctl"));
  return {
    path: (...parts) => join(etc, "opsctl", ...parts),
    words: async (args, through = [], before = ":") => {
      const words = [...through, ...(await host.opsctl("binary", args))];
      return host.inside(words, `mount --bind "$0/${name}" /etc\n${before}`);
    },
  };
}

const ENVIRONMENT = { PATH: "/usr/bin:/bin", TERM: "xterm" };

type How = { env?: Record<string, string>; before?: string };

/** Runs opsctl with `input` on a pipe. */
async function piped(etc: Etc, args: string[], input: string, { env, before }: How = {}): Promise<Ended> {
  const words = await etc.words(args, ["sh", "-c", 'printf %s "$INPUT" | "$@"', "sh"], before);
  return await startProgram(words, { cwd: "/", env: { ...ENVIRONMENT, ...env, INPUT: input } }).ended;
}

/** What the shell around opsctl says at the end: how it ended, and how the terminal is set then. */
const THEN_STTY = ["sh", "-c", 'trap "" INT; "$@"; echo "ended with $?"; stty -a; echo over', "sh"];

async function onTerminal(etc: Etc, args: string[]): Promise<OnTerminal> {
  return startOnTerminal(await etc.words(args, THEN_STTY), { env: ENVIRONMENT });
}

const facts = (path: string) => {
  const { uid, gid, mode } = lstatSync(path);
  return [uid, gid, (mode & 0o777).toString(8)];
};
const read = (path: string) => readFileSync(path, "utf8");
const PROMPT = " (nothing is shown): ";

/** The process of opsctl below the shell. */
function opsctlBelow(pid: number): number {
  const [child] = read(`/proc/${pid}/task/${pid}/children`).trim().split(" ");
  return Number(child);
}

/** How the terminal of a process is set: what `stty` says of it. */
function settingsOf(pid: number): string {
  return Bun.spawnSync(["sh", "-c", `stty -a < /proc/${pid}/fd/0`]).stdout.toString();
}

describe("opsctl secret set", () => {
  test("asks on a terminal that shows nothing, once more for a wrong form, and writes for the account", async () => {
    const etc = etcOf("typed");
    const terminal = await onTerminal(etc, ["secret", "set", "DATABASE_URL"]);
    await terminal.sees(`DATABASE_URL${PROMPT}`);
    const pid = opsctlBelow(terminal.pid);
    expect(settingsOf(pid)).toMatch(/ -echo /);
    terminal.type("mysql://owner:canary-word@h/d\r");
    await terminal.sees(PROMPT, 2);
    expect(terminal.shown()).toContain("Once more, please.");
    terminal.type(URL.slice(0, 20));
    // Half of it typed: it is in no list of processes, and on no screen.
    expect(read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`)).not.toContain("canary");
    terminal.type(`x\u007f\u001a${URL.slice(20)}\r`);
    await terminal.sees("over\r\n");
    await terminal.ended;
    const shown = terminal.shown();
    expect(shown).not.toContain("canary");
    expect(shown).toContain("DATABASE_URL is set: /etc/opsctl/secrets/DATABASE_URL (opsctl:opsctl 0600)");
    expect(shown).toContain("ended with 0");
    expect(shown).toMatch(/ echo /);
    expect(shown).toMatch(/ icanon /);
    expect(read(etc.path("secrets/DATABASE_URL"))).toBe(URL);
    expect(facts(etc.path("secrets"))).toEqual([0, ACCOUNT.gid, "750"]);
    expect(facts(etc.path("secrets/DATABASE_URL"))).toEqual([ACCOUNT.uid, ACCOUNT.gid, "600"]);
  });

  test("gives the terminal back and writes nothing at Ctrl-C, at Ctrl-D and at SIGTERM", async () => {
    const etc = etcOf("ended");
    const ends: [(terminal: OnTerminal) => void, string][] = [
      [(terminal) => terminal.type("canary\u0003"), "130"],
      [(terminal) => terminal.type("\u0004"), "3"],
      [(terminal) => process.kill(opsctlBelow(terminal.pid), "SIGTERM"), "143"],
    ];
    await Promise.all(
      ends.map(async ([end, status]) => {
        const terminal = await onTerminal(etc, ["secret", "set", "TRIGGER_SECRET"]);
        await terminal.sees(PROMPT);
        end(terminal);
        await terminal.sees("over\r\n");
        expect(terminal.shown()).toContain(`ended with ${status}`);
        expect(terminal.shown()).toMatch(/ echo /);
        expect(terminal.shown()).not.toContain("canary");
        await terminal.ended;
      }),
    );
    expect(readdirSync(etc.path("secrets"))).toEqual([]);
  });

  test("takes a value that is pasted, for root alone too, and refuses a paste of two lines", async () => {
    const etc = etcOf("pasted");
    const terminal = await onTerminal(etc, ["secret", "set", "HOSTING_TOKEN"]);
    await terminal.sees(PROMPT);
    terminal.type("canary-first\rcanary-second\r");
    await terminal.sees(PROMPT, 2);
    terminal.type(`wrong\u0015${TOKEN}é\u007f\r`);
    await terminal.sees("over\r\n");
    await terminal.ended;
    expect(terminal.shown()).not.toContain("canary");
    expect(read(etc.path("root-secrets/HOSTING_TOKEN"))).toBe(TOKEN);
    expect(facts(etc.path("root-secrets"))).toEqual([0, 0, "700"]);
    expect(facts(etc.path("root-secrets/HOSTING_TOKEN"))).toEqual([0, 0, "600"]);
  });

  test("takes one line from a pipe, and refuses another form there", async () => {
    const etc = etcOf("piped");
    const set = ["secret", "set", "MESSAGING_API_KEY", "--json"];
    const ends = [await piped(etc, set, ""), await piped(etc, set, "two-lines\nof-them\n")];
    expect(ends.map(({ exitCode, json }) => [exitCode, (json.error as { code: string }).code])).toEqual([
      [3, "SECRET_MALFORMED"],
      [3, "SECRET_MALFORMED"],
    ]);
    expect(readdirSync(etc.path("secrets"))).toEqual([]);
    const done = await piped(etc, set, `${TOKEN}\n`);
    expect(done.stderr).toBe("");
    expect(done.json).toMatchObject({
      ...{
        status: "success",
        name: "MESSAGING_API_KEY",
        isNew: true,
        owner: "opsctl:opsctl",
        mode: "0600",
      },
      next: ["systemctl reload opsctl-webhook.service"],
      warnings: [],
    });
    expect(read(etc.path("secrets/MESSAGING_API_KEY"))).toBe(TOKEN);
  });

  type Said = { next?: unknown[]; warnings?: unknown[]; path?: string };
  const own = (name: string) => `/etc/opsctl/secrets/${name}`;
  const VALUE = { DATABASE_URL: URL, MIGRATE_DATABASE_URL: URL, OPSCTL_STATE_URL: URL } as Record<
    string,
    string
  >;
  const RELOAD = "systemctl reload opsctl-webhook.service";
  const CREDENTIALS = "/run/credentials/opsctl-webhook.service";
  const matching = (text: string) => expect.stringContaining(text);
  test.each<[string, string, How & { value?: string }, Said]>([
    ["nothing more where the file is the only place", "DATABASE_URL", {}, { path: own("DATABASE_URL") }],
    ["how the service takes it", "ISSUE_TRACKER_TOKEN", {}, { next: [RELOAD] }],
    [
      "how the platform gets it",
      "WEBHOOK_SECRET",
      {},
      { next: [RELOAD, matching("contact-point apply --rotate")] },
    ],
    [
      "that the service opens its state once",
      "OPSCTL_STATE_URL",
      {},
      { next: ["systemctl restart opsctl-webhook.service"] },
    ],
    [
      "which credential goes on counting",
      "ISSUE_TRACKER_TOKEN",
      {
        before: `mount -t tmpfs none /run; mkdir -p ${CREDENTIALS}; touch ${CREDENTIALS}/ISSUE_TRACKER_TOKEN`,
      },
      { next: [RELOAD], warnings: [matching("uses its systemd credential")] },
    ],
    ["that a blank was copied", "TRIGGER_SECRET", { value: "value " }, { warnings: [matching("a blank")] }],
    [
      "that root reads its login nowhere else",
      "MIGRATE_DATABASE_URL",
      { env: { OPSCTL_SECRETS_DIR: "/srv/keys" } },
      { path: "/etc/opsctl/root-secrets/MIGRATE_DATABASE_URL" },
    ],
  ])("says %s: %s", async (what, name, { value, ...how }, said) => {
    const etc = etcOf(what.replaceAll(/\W/g, "-"));
    const words = ["secret", "set", name, "--json"];
    const given =
      value ?? VALUE[name] ?? `${name === "ISSUE_TRACKER_TOKEN" ? "lin_api_" : ""}9Gr2kLwX0vQpTz5mNcB7dfY1`;
    const { exitCode, json, stdout } = await piped(etc, words, given, how);
    expect(exitCode, stdout).toBe(0);
    expect(json).toMatchObject({ next: [], warnings: [], ...said });
    expect(stdout).not.toContain("canary");
  });
});

describe("opsctl secret", () => {
  test("set that is killed leaves a terminal that the shell gives back", async () => {
    const env = { PATH: "/usr/bin:/bin", TERM: "dumb", PS1: "shell> " };
    const directory = join(host.make("killed"), "secrets");
    const terminal = startOnTerminal(["bash", "--norc", "--noprofile", "-i"], { env });
    await terminal.sees("shell> ");
    terminal.type(`OPSCTL_SECRETS_DIR=${directory} ${await opsctlBinary()} secret set HOSTING_TOKEN\r`);
    await terminal.sees(PROMPT);
    process.kill(opsctlBelow(terminal.pid), "SIGKILL");
    await terminal.sees("shell> ", 2);
    terminal.type("stty -a; exit\r");
    await terminal.ended;
    expect(terminal.shown().split(PROMPT)[1]).toMatch(/ icanon .* echo /);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("set is root's alone, and the account needs to be there", async () => {
    const etc = etcOf("not-root");
    const asAccount = ["setpriv", `--reuid=${ACCOUNT.uid}`, `--regid=${ACCOUNT.gid}`, "--clear-groups"];
    const words = await etc.words(["secret", "set", "DATABASE_URL", "--json"], asAccount);
    const { exitCode, json } = await startProgram(words, { cwd: "/", env: ENVIRONMENT }).ended;
    expect([exitCode, json.error]).toEqual([
      3,
      expect.objectContaining({
        code: "ROOT_NEEDED",
        hint: "Run it as root: sudo opsctl secret set DATABASE_URL",
      }),
    ]);
    // sudo hands on no variable.
    const moved = await etc.words(["secret", "set", "DATABASE_URL", "--root", "--json"], asAccount);
    const named = { OPSCTL_SECRETS_DIR: "/srv/my keys", OPSCTL_ENV_DIR: "/srv/settings" };
    const there = await startProgram(moved, { cwd: "/", env: { ...ENVIRONMENT, ...named } }).ended;
    expect(there.json.error).toMatchObject({
      hint: "Run it as root: sudo OPSCTL_SECRETS_DIR='/srv/my keys' OPSCTL_ENV_DIR=/srv/settings opsctl secret set DATABASE_URL --root",
    });
    const bare = openAccountHost({ account: false });
    try {
      const args = await bare.opsctl("binary", ["secret", "set", "DATABASE_URL", "--json"]);
      const ended = await startProgram(bare.inside(args), { cwd: "/", env: ENVIRONMENT }).ended;
      expect([ended.exitCode, ended.json.error]).toMatchObject([3, { code: "ACCOUNT_UNAVAILABLE" }]);
    } finally {
      bare[Symbol.dispose]();
    }
  });

  test("set --root warns where the account opsctl runs the commands", async () => {
    const etc = etcOf("kept-for-root");
    const ended = await piped(etc, ["secret", "set", "WEBHOOK_SECRET", "--root", "--json"], "s".repeat(32));
    expect([ended.exitCode, ended.json.warnings]).toEqual([
      0,
      [expect.stringContaining("commands run as the account opsctl")],
    ]);
  });

  test("list refuses an account that has root's group", async () => {
    const etc = etcOf("no-account");
    host.put("no-account/passwd", `opsctl:x:${ACCOUNT.uid}:0::/:/usr/sbin/nologin\n`, 0o644);
    const ended = await startProgram(await etc.words(["secret", "list"]), { env: ENVIRONMENT }).ended;
    expect([ended.exitCode, ended.stdout]).toEqual([3, ""]);
    expect(ended.stderr).toContain("Cannot become the account opsctl");
  });

  test("list shows root all of them, and the account what it may see; neither shows a value", async () => {
    const etc = etcOf("listed");
    await piped(etc, ["secret", "set", "DATABASE_URL"], URL);
    await piped(etc, ["secret", "set", "HOSTING_TOKEN"], TOKEN);
    host.put("listed/opsctl/weekly.env", "TRIGGER_SECRET=canary\n", 0o600, ACCOUNT.uid);
    const asAccount = ["setpriv", `--reuid=${ACCOUNT.uid}`, `--regid=${ACCOUNT.gid}`, "--clear-groups"];
    const lists = await Promise.all(
      [[], asAccount].map(async (through) => {
        const words = await etc.words(["secret", "list", "--json"], through);
        return await startProgram(words, { cwd: "/", env: ENVIRONMENT }).ended;
      }),
    );
    const states = lists.map(({ json }) =>
      Object.fromEntries(
        (json.secrets as { name: string; state: string }[]).map(({ name, state }) => [name, state]),
      ),
    );
    const shared = { DATABASE_URL: "set", TRIGGER_SECRET: "set", EMAIL_API_KEY: "missing" };
    expect(states).toMatchObject([
      { ...shared, HOSTING_TOKEN: "set" },
      { ...shared, HOSTING_TOKEN: "unknown" },
    ]);
    expect(lists.map(({ stdout, stderr }) => stdout + stderr).join("")).not.toContain("canary");
    const json = lists[0]!.json as { problems: unknown[] };
    expect(json.problems).toEqual([]);
  });

  test("list counts what the environment files say, each read as its own account", async () => {
    const etc = etcOf("from-files");
    const put = (name: string, text: string, mode = 0o600) =>
      host.put(`from-files/opsctl/${name}.env`, text, mode, ACCOUNT.uid);
    put("webhook", "OPSCTL_SECRETS_COMMAND=/bin/canary\nMESSAGING_API_KEY='canary'\n");
    const list = async () => {
      const ended = await startProgram(await etc.words(["secret", "list", "--json"]), { env: ENVIRONMENT })
        .ended;
      expect(ended.stdout).not.toContain("canary");
      const { secrets, problems }: SecretList = JSON.parse(ended.stdout);
      const states = secrets.map(({ name, state, sources }) => [
        name,
        [state, ...sources.map(({ kind }) => kind)],
      ]);
      return { ...Object.fromEntries(states), problems };
    };
    put("weekly", "SOCIAL_EDITORIALS_ENABLED=1\nTRIGGER_SECRET=\n");
    expect(await list()).toMatchObject({
      ISSUE_TRACKER_TOKEN: ["set", "command"],
      MESSAGING_API_KEY: ["set", "command", "environment file"],
      SOCIAL_EDITORIALS_CRON_SECRET: ["missing"],
      TRIGGER_SECRET: ["missing"],
      problems: [],
    });
    put("weekly", "SOCIAL_EDITORIALS_ENABLED=yes\n");
    expect(await list()).toMatchObject({ SOCIAL_EDITORIALS_CRON_SECRET: ["unset"] });
    put("weekly", "export TRIGGER_SECRET=canary\n");
    expect(await list()).toMatchObject({
      TRIGGER_SECRET: ["unknown"],
      problems: [{ where: "/etc/opsctl/weekly.env", why: "it could not be read (ENV_FILE_INVALID)" }],
    });
  });

  test("list marks a wrong owner with the command that corrects it, and that command does", async () => {
    const etc = etcOf("corrected");
    await piped(etc, ["secret", "set", "DATABASE_URL"], URL);
    const path = etc.path("secrets/DATABASE_URL");
    chownSync(path, 0, 0);
    chmodSync(path, 0o644);
    const list = async () => {
      const words = await etc.words(["secret", "list", "--json"]);
      const { json } = await startProgram(words, { cwd: "/", env: ENVIRONMENT }).ended;
      return (json.secrets as SecretList["secrets"])[0]!;
    };
    const { state, problems } = await list();
    expect([state, problems.map(({ fix }) => fix.command)]).toEqual([
      "wrong",
      ["opsctl secret set DATABASE_URL"],
    ]);
    await piped(etc, ["secret", "set", "DATABASE_URL"], URL);
    expect((await list()).state).toBe("set");
    expect(facts(path)).toEqual([ACCOUNT.uid, ACCOUNT.gid, "600"]);
  });
});
