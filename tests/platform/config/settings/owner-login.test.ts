import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  findOwnerLogin,
  parseLogin,
  rootsOwnerLogin,
  writtenLogin,
} from "../../../../lib/platform/config/settings/owner-login.ts";

const OWNER = "postgres://owner:canary@127.0.0.1/app";
const RUN = "postgres://run:canary@127.0.0.1/app";
const NONE = { given: {}, settingsFile: null };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-owner-login-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(name: string, text: string, mode = 0o600): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), mode);
  return join(folder, name);
}

const shown = async (login: ReturnType<typeof findOwnerLogin>) => {
  const { url, variable, source } = await login;
  return [url.open(), variable, source];
};

describe("findOwnerLogin()", () => {
  const find = (env: Record<string, string>, places = NONE as Parameters<typeof findOwnerLogin>[1]) =>
    findOwnerLogin({ OPSCTL_SECRETS_DIR: folder, ...env }, places);

  test("prefers the owner's login to that of the run", async () => {
    const env = { MIGRATE_DATABASE_URL: OWNER, DATABASE_URL: RUN };
    expect(await shown(find(env))).toEqual([OWNER, "MIGRATE_DATABASE_URL", "environment"]);
    expect(await shown(find({ DATABASE_URL: RUN }))).toEqual([RUN, "DATABASE_URL", "environment"]);
  });

  test("says where it was found", async () => {
    const settingsFile = "/etc/opsctl/weekly.env";
    const inFile = { given: {}, settingsFile };
    expect((await find({ DATABASE_URL: RUN }, inFile)).source).toBe(`settings file ${settingsFile}`);
    const given = { given: { DATABASE_URL: RUN }, settingsFile };
    expect((await find({ DATABASE_URL: RUN }, given)).source).toBe("environment");
    const path = put("MIGRATE_DATABASE_URL", OWNER);
    expect(await shown(find({ DATABASE_URL: RUN }))).toEqual([
      OWNER,
      "MIGRATE_DATABASE_URL",
      `secret file ${path}`,
    ]);
  });

  test.each([
    ["a usable login", RUN],
    ["one that cannot be used", "mysql://u:canary@h/d"],
    ["none", ""],
  ])("asks the secrets command once for each name, when it has %s", async (_, answer) => {
    const asked = join(folder, "asked");
    const client = put("client", `#!/bin/sh\necho "$1" >> '${asked}'\n`, 0o700);
    if (answer !== "")
      writeFileSync(client, `[ "$1" = DATABASE_URL ] && echo '${answer}'; :\n`, { flag: "a" });
    const login = await find({ OPSCTL_SECRETS_COMMAND: client }).catch((error) => error);
    const expected = answer === RUN ? { source: "OPSCTL_SECRETS_COMMAND" } : { code: "CONFIG_INVALID" };
    expect(login).toMatchObject(expected);
    expect(readFileSync(asked, "utf8")).toBe("MIGRATE_DATABASE_URL\nDATABASE_URL\n");
  });

  test.each([
    ["MIGRATE_DATABASE_URL", { MIGRATE_DATABASE_URL: "mysql://u:canary@h/d" }],
    ["DATABASE_URL", { DATABASE_URL: "mysql://u:canary@h/d" }],
    ["MIGRATE_DATABASE_URL", {}],
  ])("names %s when it is missing or cannot be used, and never its value: %j", async (variable, env) => {
    const error = await find(env).catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`  ${variable}: `),
    });
    expect(`${error.message}${error.hint}`).not.toContain("canary");
  });
});

describe("rootsOwnerLogin()", () => {
  test("takes root's file before the environment, and nothing else", async () => {
    const directory = join(folder, "root-secrets");
    mkdirSync(directory, { mode: 0o700 });
    const find = (env: Record<string, string> = {}) => rootsOwnerLogin(env, directory);
    expect(await find({ DATABASE_URL: RUN, OPSCTL_SECRETS_COMMAND: "/bin/false" })).toBeNull();
    expect(await find({ MIGRATE_DATABASE_URL: RUN })).toMatchObject({ source: "environment" });
    const path = put("root-secrets/MIGRATE_DATABASE_URL", `${OWNER}\n`);
    const found = await find({ MIGRATE_DATABASE_URL: RUN });
    expect([found?.url.open(), found?.source]).toEqual([OWNER, `secret file ${path}`]);
    expect(found?.overrules).toBe(true);
    for (const env of [{}, { MIGRATE_DATABASE_URL: "  " }, { MIGRATE_DATABASE_URL: OWNER }])
      expect(await find(env)).toMatchObject({ overrules: false });
  });

  test("refuses a file that others may read", async () => {
    put("MIGRATE_DATABASE_URL", OWNER, 0o640);
    await expect(rootsOwnerLogin({}, folder)).rejects.toMatchObject({ code: "SECRET_FILE_EXPOSED" });
  });
});

test("a login that was written is read again", async () => {
  const login = await findOwnerLogin({ OPSCTL_SECRETS_DIR: folder, MIGRATE_DATABASE_URL: OWNER }, NONE);
  const read = parseLogin(writtenLogin(login));
  expect([read.url.open(), read.variable, read.source]).toEqual([
    OWNER,
    "MIGRATE_DATABASE_URL",
    "environment",
  ]);
});
