/** Which secrets a host has, seen without opening one. Root stands for the account that reads them. */
import { afterEach, beforeEach, describe, expect } from "bun:test";
import { chmodSync, mkdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listSecrets } from "../../lib/secret/list.ts";
import { renderSecretList } from "../../lib/secret/render.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { FILE_FAULTS } from "../cases/file-faults.ts";
import { giveAway } from "../platform/support/other-account.ts";
import { requires } from "../support/requires.ts";
import { openPlaces, type Places } from "./support/places.ts";

const NOW = Date.parse("2026-11-23T11:00:00Z");
const DAY_MS = 86_400_000;
const { test } = requires("root");

let places: Places;
beforeEach(() => {
  places = openPlaces();
  chmodSync(places.secrets, 0o755);
  mkdirSync(join(places.folder, "etc"));
});
afterEach(() => places[Symbol.dispose]());

function put(name: string, { mode = 0o600, ageMs = 3 * DAY_MS } = {}): string {
  const path = join(places.secrets, name);
  writeFileSync(path, "canary-of-the-list");
  chmodSync(path, mode);
  utimesSync(path, new Date(NOW - ageMs), new Date(NOW - ageMs));
  return path;
}

function file(name: string, text: string, mode = 0o600): string {
  const path = join(places.folder, "etc", name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const environment = (more: Record<string, string> = {}) => ({
  ...{ OPSCTL_SECRETS_DIR: places.secrets, OPSCTL_ENV_DIR: join(places.folder, "etc") },
  ...more,
});
const list = (env: Record<string, string> = environment()) => listSecrets(env, null, NOW);
const one = (name: string, env?: Record<string, string>) =>
  list(env).secrets.find((secret) => secret.name === name)!;

describe("listSecrets()", () => {
  test("shows place and age of a file, and what is missing for which command", () => {
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

  test("has one problem and its fix for a file, and for a directory, that another account may change", () => {
    const owner = put("DATABASE_URL");
    giveAway(owner);
    const mode = put("TRIGGER_SECRET", { mode: 0o640 });
    // A directory that the settings name stands in no command.
    const fix = { text: "Remove the file, then set the secret again", command: null };
    expect([one("DATABASE_URL").problems, one("TRIGGER_SECRET").problems]).toEqual([
      [{ where: owner, why: "it is no file that root alone may read (owner uid 65534, mode 0600)", fix }],
      [{ where: mode, why: "it is no file that root alone may read (owner root, mode 0640)", fix }],
    ]);
    giveAway(places.secrets);
    const why = `${places.secrets} belongs to uid 65534, expected root`;
    expect(one("TRIGGER_SECRET").problems).toMatchObject([
      { where: places.secrets, why, fix: { command: null } },
    ]);
  });

  for (const { name, make, listed, is } of FILE_FAULTS)
    test(`calls ${listed}, without opening it: ${name}`, () => {
      make(join(places.secrets, "TRIGGER_SECRET"));
      const { state, problems } = one("TRIGGER_SECRET");
      expect(state).toBe(listed);
      if (listed === "wrong" && is !== undefined) expect(problems[0]?.why).toStartWith(`it is ${is}`);
    });

  test("names every place that has a secret, the one that counts first", () => {
    const path = put("WEBHOOK_SECRET");
    const command = file("weekly.env", "OPSCTL_SECRETS_COMMAND=/bin/canary\n");
    const variable = file("webhook.env", "WEBHOOK_SECRET=canary\n");
    expect(one("WEBHOOK_SECRET", environment({ WEBHOOK_SECRET: "canary" })).sources).toEqual([
      { kind: "file", where: path },
      { kind: "command", where: command },
      { kind: "environment", where: "this terminal" },
      { kind: "environment file", where: variable },
    ]);
  });

  test("counts the file that another command's settings share, and no environment for the editorial secret", () => {
    file("weekly.env", "SOCIAL_EDITORIALS_ENABLED=1\nSOCIAL_EDITORIALS_CRON_SECRET=canary\n");
    file("webhook.env", "MESSAGING_API_KEY=canary\n");
    expect(one("MESSAGING_API_KEY").state).toBe("set");
    expect(one("SOCIAL_EDITORIALS_CRON_SECRET")).toMatchObject({
      state: "missing",
      usedBy: [{ command: "weekly", required: true }],
    });
  });

  test("looks where the environment file says that its command looks", () => {
    const path = put("DATABASE_URL");
    file("weekly.env", `OPSCTL_SECRETS_DIR=${places.secrets}\n`);
    const { OPSCTL_ENV_DIR } = environment();
    expect(one("DATABASE_URL", { OPSCTL_ENV_DIR }).sources).toEqual([{ kind: "file", where: path }]);
  });

  test("knows nothing of a secret whose environment file cannot be read, and says what shows why", () => {
    const path = file("weekly.env", "A=b\n", 0o644);
    expect([one("TRIGGER_SECRET").state, one("MONITORING_TOKEN").state]).toEqual(["unknown", "missing"]);
    const { problems } = list();
    const command = `sudo OPSCTL_SECRETS_DIR=${places.secrets} opsctl doctor --env-dir ${join(places.folder, "etc")}`;
    const why = "it could not be read (SECRET_FILE_EXPOSED)";
    expect(problems).toEqual([{ where: path, why, fix: { text: null, command } }]);
  });
});

describe("renderSecretList()", () => {
  test("shows a row for each, what is wrong and the next step, and never a value", () => {
    put("DATABASE_URL");
    const path = put("TRIGGER_SECRET", { mode: 0o644, ageMs: 0 });
    const found = list(environment({ EMAIL_API_KEY: "canary-of-the-list" }));
    const text = renderSecretList(found, NO_TERMINAL);
    expect(text).toMatch(
      /^DATABASE_URL +set +3 d +weekly reports deliveries \(migrate\) +\/\S+\/secrets\/$/m,
    );
    expect(text).toMatch(/^TRIGGER_SECRET +WRONG +0 d +weekly /m);
    expect(text).toContain(
      `${path}: it is no file that root alone may read (owner root, mode 0644)\n  -> Remove the file, then set`,
    );
    expect(text).toMatch(/^EMAIL_API_KEY +set +- .*environment of this terminal$/m);
    expect(text).toMatch(/^MONITORING_TOKEN +MISSING /m);
    expect(text).toContain("MISSING: opsctl secret set <name>");
    expect(text + JSON.stringify(found)).not.toContain("canary");
  });

  test("names once what is wrong in the same way at several places", () => {
    const [a, b] = [file("weekly.env", "", 0o644), file("webhook.env", "", 0o644)];
    expect(renderSecretList(list(), NO_TERMINAL).split(`${a}, ${b}: it could not be read`)).toHaveLength(2);
  });

  test("moves no terminal, whatever the names on the way hold", () => {
    const odd = join(places.folder, "s\u001b[2J\n-> rm -rf ~\u202e");
    renameSync(places.secrets, odd);
    places.secrets = odd;
    put("DATABASE_URL", { mode: 0o644 });
    put("TRIGGER_SECRET");
    for (const width of [null, 80, 200]) {
      const text = renderSecretList(list(), { ...NO_TERMINAL, width });
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
      // A cell may break before it; a fix begins with two blanks.
      expect(text).not.toMatch(/^ {0,4}-> rm/m);
    }
  });

  test("wraps sentences at 60 columns, and keeps a command whole", () => {
    put("DATABASE_URL", { mode: 0o644 });
    const command = `install -d -o opsctl -g opsctl -m 0700 ${"/a-long-directory".repeat(4)}`;
    const why = `${"long ".repeat(12)}and as root: chmod 4755 /bin/sh`;
    const problems = [{ where: "/x", why, fix: { text: null, command } }];
    const text = renderSecretList({ ...list(), problems }, { ...NO_TERMINAL, width: 60 });
    expect(text).toContain(`\n  -> ${command}\n`);
    expect(text).toContain("\nMISSING: opsctl secret set <name> asks");
    // Only a fix has a command on a line of its own.
    expect(text).not.toMatch(/^ *chmod/m);
    // What is one word, as a long path, stays whole.
    const canWrap = (line: string) => !line.includes(command) && /\S\s+\S/.test(line);
    expect(text.split("\n").filter((line) => line.length > 60 && canWrap(line))).toEqual([]);
  });

  test("is a table on 80 columns, too: a directory stands for the files in it", () => {
    const places = {
      DATABASE_URL: ["file", "/etc/opsctl/secrets/DATABASE_URL", "secrets/"],
      HOSTING_TOKEN: ["file", "/etc/opsctl/root-secrets/HOSTING_TOKEN", "root-secrets/"],
      MESSAGING_API_KEY: ["credential", "/run/credentials/opsctl-webhook.service/M", "systemd credential"],
      EMAIL_API_KEY: ["environment file", "/etc/opsctl/weekly.env", "weekly.env"],
      TRIGGER_SECRET: ["file", "/srv/s/TRIGGER_SECRET", "/srv/s/"],
    } as const;
    const secrets = list().secrets.map((secret) => {
      const [kind, where] = places[secret.name as keyof typeof places] ?? [];
      return {
        ...secret,
        sources: kind === undefined ? [] : [{ kind, where }],
        state: "set" as const,
        ageSeconds: 3_599,
      };
    });
    const shown = renderSecretList({ secrets, problems: [] }, { ...NO_TERMINAL, width: 80 });
    const lines = shown.split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    for (const [name, [, , place]] of Object.entries(places))
      expect(lines.find((line) => line.startsWith(name))?.slice(lines[0]!.indexOf("PLACE"))).toBe(place);
  });
});
