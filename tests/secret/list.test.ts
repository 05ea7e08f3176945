/** Which secrets a host has, seen without opening one. */
import { afterEach, beforeEach, describe, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { FileFacts } from "../../lib/secret/file-facts.ts";
import { type ListInput, listSecrets } from "../../lib/secret/list.ts";
import { lookAt } from "../../lib/secret/look.ts";
import { renderSecretList } from "../../lib/secret/render-list.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { FILE_FAULTS } from "../cases/file-faults.ts";
import { requires } from "../support/requires.ts";
import { openPlaces, type Places, READER } from "./support/places.ts";

const NOW = Date.parse("2026-11-23T11:00:00Z");
const DAY_MS = 86_400_000;
const { test } = requires("root");

let places: Places;
beforeEach(() => {
  places = openPlaces();
});
afterEach(() => places[Symbol.dispose]());

const put = (name: string, { mode = 0o600, uid = READER.uid, days = 3 } = {}): string => {
  const path = join(places.secrets, name);
  writeFileSync(path, "canary-of-the-list", { mode });
  chmodSync(path, mode);
  chownSync(path, uid, uid);
  utimesSync(path, new Date(NOW - days * DAY_MS), new Date(NOW - days * DAY_MS));
  return path;
};
const file = (name: string, more: Partial<FileFacts> = {}): FileFacts => ({
  ...{ name, path: `/etc/opsctl/${name}`, secrets: [], wanted: [], secretsDir: null, hasCommand: false },
  ...{ problem: null, isClosed: false, ...more },
});
const input = (more: Partial<ListInput> = {}): ListInput => ({
  ...{ env: { OPSCTL_SECRETS_DIR: places.secrets }, account: READER, facts: [], unread: null, lookAt },
  ...{ credentialOf: () => null, nowMs: NOW, ...more },
});
const one = (name: string, more: Partial<ListInput> = {}) =>
  listSecrets(input(more)).secrets.find((secret) => secret.name === name)!;

describe("listSecrets()", () => {
  test("tells place and age of a file, and what is missing for whom", () => {
    const path = put("DATABASE_URL");
    expect(one("DATABASE_URL")).toEqual({
      ...{ name: "DATABASE_URL", state: "set", sources: [{ kind: "file", where: path }] },
      ...{ changedAt: new Date(NOW - 3 * DAY_MS).toISOString(), ageSeconds: 259_200, problems: [] },
      usedBy: [
        { command: "weekly", required: true },
        { command: "reports", required: true },
        { command: "deliveries", required: true },
        { command: "migrate", required: false },
      ],
    });
    expect([one("TRIGGER_SECRET").state, one("EMAIL_READ_API_KEY").state]).toEqual(["missing", "unset"]);
  });

  test("marks owner, mode, link and second name with what puts them right", () => {
    const owner = put("DATABASE_URL", { uid: 0 });
    const mode = put("TRIGGER_SECRET", { mode: 0o640 });
    const twice = put("EMAIL_API_KEY");
    linkSync(twice, join(places.folder, "second"));
    const link = join(places.secrets, "MONITORING_TOKEN");
    symlinkSync("/etc/passwd", link);
    chownSync(places.secrets, 0, READER.gid);
    spawnSync("chown", ["-h", `${READER.uid}`, link]);
    const problems = (name: string) =>
      one(name).problems.map(({ where, why, fix }) => [where, why, fix.text, fix.command]);
    const give = "Give it to opsctl:opsctl, with mode 0600";
    const anew = (name: string) => `Remove it, then set it again: opsctl secret set ${name}`;
    // A path that the settings name stands in no command.
    expect(problems("DATABASE_URL")).toEqual([[owner, "it belongs to root, expected uid 64001", give, null]]);
    expect(problems("TRIGGER_SECRET")).toEqual([[mode, "it has mode 0640, expected 0600", give, null]]);
    // Its other name may be a file of another account, which is not given away.
    expect(problems("EMAIL_API_KEY")).toEqual([
      [twice, "it has a second name elsewhere (a hard link)", anew("EMAIL_API_KEY"), null],
    ]);
    expect(problems("MONITORING_TOKEN")).toEqual([[link, "it is a link", anew("MONITORING_TOKEN"), null]]);
    expect(one("MONITORING_TOKEN").state).toBe("wrong");
  });

  test("takes a link of root's, by which an agent publishes, as it is", () => {
    symlinkSync("/run/agent/DATABASE_URL", join(places.secrets, "DATABASE_URL"));
    expect(one("DATABASE_URL")).toMatchObject({ state: "set", changedAt: null, problems: [] });
  });

  test("puts a directory that the account can exchange before the files in it", () => {
    put("DATABASE_URL", { mode: 0o644 });
    chownSync(places.secrets, READER.uid, READER.gid);
    expect(one("DATABASE_URL").problems[0]?.fix.text).toStartWith("Put its directory right first");
    const { problems } = listSecrets(input());
    expect(problems).toEqual([
      {
        where: places.secrets,
        why: `${places.secrets} belongs to uid 64001, expected root`,
        fix: { text: "Give the directory to root:opsctl, with mode 0750", command: null },
      },
    ]);
  });

  for (const { name, make, listed } of FILE_FAULTS)
    test(`calls ${listed}, without opening it: ${name}`, () => {
      chmodSync(places.secrets, 0o755);
      const root = { ...READER, name: "root", uid: 0, gid: 0 };
      make(join(places.secrets, "TRIGGER_SECRET"));
      expect(one("TRIGGER_SECRET", { account: root }).state).toBe(listed);
    });

  test("names every place that has a secret, the one that counts first", () => {
    const path = put("WEBHOOK_SECRET");
    const env = { OPSCTL_SECRETS_DIR: places.secrets, WEBHOOK_SECRET: "canary" };
    const facts = [
      file("weekly.env", { hasCommand: true }),
      file("webhook.env", { secrets: ["WEBHOOK_SECRET"] }),
    ];
    const { sources } = one("WEBHOOK_SECRET", { env, facts, credentialOf: ({ name }) => `/run/c/${name}` });
    expect(sources).toEqual([
      { kind: "credential", where: "/run/c/WEBHOOK_SECRET" },
      { kind: "file", where: path },
      { kind: "command", where: "/etc/opsctl/weekly.env" },
      { kind: "environment", where: "this terminal" },
      { kind: "environment file", where: "/etc/opsctl/webhook.env" },
    ]);
  });

  test("counts the file that another command's settings share, and no environment for the editorial secret", () => {
    const facts = [
      file("weekly.env", {
        secrets: ["SOCIAL_EDITORIALS_CRON_SECRET"],
        wanted: ["SOCIAL_EDITORIALS_CRON_SECRET"],
      }),
      file("webhook.env", { secrets: ["MESSAGING_API_KEY"] }),
    ];
    expect(one("MESSAGING_API_KEY", { facts }).state).toBe("set");
    expect(one("SOCIAL_EDITORIALS_CRON_SECRET", { facts })).toMatchObject({
      state: "missing",
      usedBy: [{ command: "weekly", required: true }],
    });
  });

  test("looks where the environment file says that its command looks", () => {
    const path = put("DATABASE_URL");
    const facts = [file("weekly.env", { secretsDir: places.secrets })];
    expect(one("DATABASE_URL", { env: {}, facts }).sources).toEqual([{ kind: "file", where: path }]);
  });

  test("knows nothing where it may not look", () => {
    const fix = { text: "Start it as opsctl", command: null };
    const unread = { why: "ACCOUNT_UNAVAILABLE: it cannot be become", fix };
    expect(one("TRIGGER_SECRET", { unread }).state).toBe("unknown");
    expect(listSecrets(input({ unread })).problems).toEqual([
      { where: "the environment files of the account opsctl", ...unread },
    ]);
    const facts = [file("weekly.env", { problem: "SECRET_FILE_EXPOSED" })];
    expect([one("TRIGGER_SECRET", { facts }).state, one("MONITORING_TOKEN", { facts }).state]).toEqual([
      "unknown",
      "missing",
    ]);
    expect(listSecrets(input({ facts })).problems).toEqual([
      {
        where: "/etc/opsctl/weekly.env",
        why: "it could not be read (SECRET_FILE_EXPOSED)",
        fix: { text: null, command: `sudo OPSCTL_SECRETS_DIR=${places.secrets} opsctl doctor weekly` },
      },
    ]);
  });

  test("tells an ordinary account once for all files that root sees them", () => {
    const facts = ["weekly.env", "webhook.env"].map((name) =>
      file(name, { problem: "SECRET_FILE_UNREADABLE", isClosed: true }),
    );
    const text = renderSecretList(listSecrets(input({ facts })));
    expect(text).toContain(
      "\n/etc/opsctl/weekly.env, /etc/opsctl/webhook.env: this account may not read it\n" +
        `  -> sudo OPSCTL_SECRETS_DIR=${places.secrets} opsctl secret list\n`,
    );
    expect(text).not.toContain("doctor");
  });

  test("sends root to the environment files that this process has", () => {
    const env = { OPSCTL_SECRETS_DIR: places.secrets, OPSCTL_ENV_DIR: "/etc/opsctl/staging" };
    const facts = [
      file("weekly.env", { problem: "SECRET_FILE_EXPOSED" }),
      file("webhook.env", { problem: "SECRET_FILE_UNREADABLE", isClosed: true }),
    ];
    expect(listSecrets(input({ env, facts })).problems.map(({ fix }) => fix.command)).toEqual([
      `sudo OPSCTL_SECRETS_DIR=${places.secrets} opsctl doctor weekly --env-dir /etc/opsctl/staging`,
      `sudo OPSCTL_SECRETS_DIR=${places.secrets} OPSCTL_ENV_DIR=/etc/opsctl/staging opsctl secret list`,
    ]);
    const { secrets } = listSecrets(input({ env, facts }));
    expect(renderSecretList({ secrets, problems: [] }, NO_TERMINAL, env)).toContain(
      `: sudo OPSCTL_SECRETS_DIR=${places.secrets} OPSCTL_ENV_DIR=/etc/opsctl/staging opsctl secret list\n`,
    );
  });

  test("says which file cannot be used, and who says what is wrong in it", () => {
    const facts = [file("weekly.env", { problem: "ENV_FILE_INVALID" })];
    const text = renderSecretList(listSecrets(input({ facts })));
    expect(text).toContain(
      `/etc/opsctl/weekly.env: it could not be read (ENV_FILE_INVALID)\n  -> sudo OPSCTL_SECRETS_DIR=${places.secrets} opsctl doctor weekly\n`,
    );
    expect(text).toContain("?: one of its places could not be looked at, as said above\n");
    expect(text).not.toContain("root may look");
  });

  test("names files that nothing reads: a slip of the pen, and a setting that is no secret", () => {
    const slip = put("TRIGER_SECRET");
    const setting = put("APP_BASE_URL");
    expect(listSecrets(input()).problems).toEqual([
      {
        where: setting,
        why: "it has no effect: the setting is no secret",
        fix: { text: "Remove the file, and set APP_BASE_URL in weekly.env", command: null },
      },
      {
        where: slip,
        why: "nothing reads it; did you mean TRIGGER_SECRET?",
        fix: { text: "Rename the file to TRIGGER_SECRET", command: null },
      },
    ]);
  });

  test("tells of what a killed run left", () => {
    const path = put(".DATABASE_URL.0123456789ab.tmp");
    expect(listSecrets(input()).problems).toEqual([
      {
        where: path,
        why: "a run that was killed left it; it may hold a secret",
        fix: { text: "Remove the file, or set any secret there, which removes it", command: null },
      },
    ]);
  });
});

describe("listSecrets() where an environment file names the directory", () => {
  const problemsOf = ({ secrets, problems }: ReturnType<typeof listSecrets>) => [
    ...secrets.flatMap((secret) => secret.problems),
    ...problems,
  ];
  const there = (directory: string, more: Partial<ListInput> = {}) => {
    const facts = [file("weekly.env", { secretsDir: directory })];
    return problemsOf(listSecrets(input({ env: {}, facts, ...more }))).filter(
      ({ where }) => !where.startsWith("/etc/opsctl/"),
    );
  };
  test("names the first directory that the account could exchange", () => {
    const above = join(places.folder, "above");
    mkdirSync(join(above, "below"), { recursive: true });
    chownSync(above, READER.uid, READER.gid);
    const [told, ...more] = there(join(above, "below"));
    expect([more, told?.why]).toEqual([[], `${above} belongs to uid 64001, expected root`]);
    expect(told?.fix.text).toStartWith("Keep secrets where the whole way is root's");
  });

  test("puts no path of the file into a command", () => {
    put("DATABASE_URL", { mode: 0o644 });
    symlinkSync("/etc/passwd", join(places.secrets, "TRIGGER_SECRET"));
    spawnSync("chown", ["-h", `${READER.uid}`, join(places.secrets, "TRIGGER_SECRET")]);
    linkSync(put("EMAIL_API_KEY"), join(places.folder, "second"));
    put("APP_BASE_URL");
    put("MONITORNG_TOKEN");
    put(".DATABASE_URL.0123456789ab.tmp");
    chmodSync(places.secrets, 0o700);
    const told = there(places.secrets);
    expect(told).toHaveLength(7);
    expect(told.flatMap(({ fix }) => fix.command ?? [])).toEqual([]);
    expect(told.filter(({ fix }) => (fix.text ?? "").includes(places.folder))).toEqual([]);
  });
});

describe("renderSecretList()", () => {
  test("shows a row for each, what is wrong and the next step, and never a value", () => {
    put("DATABASE_URL");
    const path = put("TRIGGER_SECRET", { mode: 0o644, days: 0 });
    const env = { OPSCTL_SECRETS_DIR: places.secrets, EMAIL_API_KEY: "canary-of-the-list" };
    const list = listSecrets(input({ env }));
    const text = renderSecretList(list);
    expect(text).toMatch(
      /^DATABASE_URL +set +3 d +weekly reports deliveries \(migrate\) +\/\S+\/DATABASE_URL$/m,
    );
    expect(text).toMatch(/^TRIGGER_SECRET +WRONG +0 min +weekly /m);
    expect(text).toContain(
      `${path}: it has mode 0644, expected 0600\n  -> Give it to opsctl:opsctl, with mode 0600\n`,
    );
    expect(text).toMatch(/^EMAIL_API_KEY +set +- .*environment of this terminal$/m);
    expect(text).toMatch(/^MONITORING_TOKEN +MISSING /m);
    expect(text).toContain("MISSING: opsctl secret set");
    expect(text + JSON.stringify(list)).not.toContain("canary");
  });

  test("moves no terminal, whatever the names on the way hold", () => {
    const odd = join(places.folder, "s\u001b[2J\n-> rm -rf ~\u202e");
    renameSync(places.secrets, odd);
    places.secrets = odd;
    put("DATABASE_URL", { mode: 0o644 });
    put("TRIGGER_SECRET");
    for (const width of [null, 80, 200]) {
      const text = renderSecretList(listSecrets(input()), { ...NO_TERMINAL, width });
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
      // A cell may break before it; a fix begins with two blanks.
      expect(text).not.toMatch(/^ {0,4}-> rm/m);
    }
  });

  test("gives no command in what is wrong a line of its own: only a fix has one", () => {
    const why = `${"long ".repeat(12)}and as root: chmod 4755 /bin/sh`;
    const problems = [{ where: "/x", why, fix: { text: null, command: "opsctl doctor" } }];
    const text = renderSecretList({ secrets: [], problems }, { ...NO_TERMINAL, width: 90 });
    expect(text).toContain("chmod");
    expect(text).not.toMatch(/^ *chmod/m);
  });

  test("wraps sentences at 60 columns, those about commands too, and keeps a command whole", () => {
    put("DATABASE_URL", { mode: 0o644 });
    const command = `install -d -o opsctl -g opsctl -m 0700 ${"/a-long-directory".repeat(4)}`;
    const fixes = [
      { text: "opsctl reads what only its account may read: give the file to opsctl:opsctl", command: null },
      { text: null, command },
    ];
    const { secrets } = listSecrets(input());
    const problems = fixes.map((fix) => ({ where: "/x", why: "it is closed", fix }));
    const text = renderSecretList({ secrets, problems }, { ...NO_TERMINAL, width: 60 });
    expect(text).toContain(`\n  -> ${command}\n`);
    expect(text).toContain("\nMISSING: opsctl secret set <name> asks");
    // What is one word, as a long path, stays whole.
    const canWrap = (line: string) => !line.includes(command) && /\S\s+\S/.test(line);
    const tooWide = text.split("\n").filter((line) => line.length > 60 && canWrap(line));
    expect(tooWide).toEqual([]);
  });

  const WHERE = {
    DATABASE_URL: ["file", "/etc/opsctl/secrets/DATABASE_URL"],
    HOSTING_TOKEN: ["file", "/etc/opsctl/root-secrets/HOSTING_TOKEN"],
    MESSAGING_API_KEY: ["credential", "/run/credentials/opsctl-webhook.service/MESSAGING_API_KEY"],
    EMAIL_API_KEY: ["environment file", "/etc/opsctl/weekly.env"],
    TRIGGER_SECRET: ["file", "/srv/s/TRIGGER_SECRET"],
  } as const;

  test("is a table on 80 columns, too: a directory stands for the files in it", () => {
    const { secrets } = listSecrets(input());
    const list = secrets.map((secret) => {
      const [kind, where] = WHERE[secret.name as keyof typeof WHERE] ?? [];
      const sources = kind === undefined ? [] : [{ kind, where }];
      return { ...secret, sources, state: "set" as const, ageSeconds: 3_599, problems: [] };
    });
    const shown = (width: number) =>
      renderSecretList({ secrets: list, problems: [] }, { ...NO_TERMINAL, width });
    const lines = shown(80).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines[0]).toMatch(/^SECRET +STATE +AGE +NEEDED BY +PLACE$/);
    const places = [
      "DATABASE_URL",
      "HOSTING_TOKEN",
      "MESSAGING_API_KEY",
      "EMAIL_API_KEY",
      "TRIGGER_SECRET",
    ].map((name) => lines.find((line) => line.startsWith(name))?.slice(lines[0]!.indexOf("PLACE")));
    expect(places).toEqual(["secrets/", "root-secrets/", "systemd", "weekly.env", "/srv/s/"]);
    expect(shown(80)).not.toContain("/run/");
    expect(shown(80)).toContain("\nPLACE: the file has the secret's name; ");
    expect(shown(120)).toContain("/etc/opsctl/secrets/DATABASE_URL\n");
  });

  test.each([
    [0, "0 min"],
    [59, "0 min"],
    [60, "1 min"],
    [3_599, "59 min"],
    [3_600, "1 h"],
    [86_399, "23 h"],
    [86_400, "1 d"],
    [172_800, "2 d"],
  ])("gives an age of %d s as %s", (ageSeconds, age) => {
    const [secret] = listSecrets(input()).secrets;
    const secrets = [{ ...secret!, state: "set" as const, ageSeconds, problems: [] }];
    const shown = renderSecretList({ secrets, problems: [] }, NO_TERMINAL);
    expect(shown).toMatch(new RegExp(`^${secret!.name} +set +${age} +`, "m"));
  });
});
