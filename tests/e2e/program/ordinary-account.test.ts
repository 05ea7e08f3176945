/** What an account sees that is neither root nor the service's: it is sent to sudo, and nothing is called broken. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { chownSync } from "node:fs";
import type { Finding } from "../../../lib/doctor/context.ts";
import { ACCOUNT, type AccountHost, openAccountHost } from "../../support/account-host.ts";
import { requires } from "../../support/requires.ts";
import { type Ended, startProgram } from "../support/opsctl.ts";

const ORDINARY = 64_009;
const FILES = ["weekly", "webhook", "socket-monitor", "alert-rules"].map((name) => `${name}.env`);
let host: AccountHost;
beforeAll(() => {
  host = openAccountHost();
  for (const name of ["etc", "secrets"]) host.make(name);
  for (const name of FILES) host.put(`etc/${name}`, "", 0o600, ACCOUNT.uid);
  host.put("etc/collect-metrics.env", "");
  chownSync(host.make("secrets", 0o750), 0, ACCOUNT.gid);
});
afterAll(() => host[Symbol.dispose]());

const { test } = requires("account");

async function run(args: string[], { uid = ORDINARY, env = {} } = {}): Promise<Ended> {
  const who = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  const words = host.inside([...who, ...(await host.opsctl("binary", args))]);
  const places = { OPSCTL_ENV_DIR: host.path("etc"), OPSCTL_SECRETS_DIR: host.path("secrets") };
  return await startProgram(words, {
    cwd: "/",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: host.folder, ...places, ...env },
  }).ended;
}

type Failed = { code: string; message: string; hint: string };
const errorOf = ({ json }: Ended) => json.error as Failed;

/** sudo hands on no variable. */
const secretsDir = () => `OPSCTL_SECRETS_DIR=${host.path("secrets")}`;

describe("an ordinary account", () => {
  test.each(["weekly --dry-run", "collect-metrics --stdout"])(
    "is sent to sudo by opsctl %s",
    async (words) => {
      const { code, message, hint } = errorOf(await run([...words.split(" "), "--json"]));
      expect(code).toBe("SECRET_FILE_UNREADABLE");
      expect(message).toEndWith("this account may not read it (EACCES)");
      expect(hint).toStartWith("Put sudo before the same command, or ");
    },
  );

  test("sees in doctor one fault a command, the file that it may not read, and what follows unchecked", async () => {
    const option = ` --env-dir ${host.path("etc")}`;
    const { exitCode, json } = await run(["doctor", "--json"]);
    const findings = json.findings as Finding[];
    const about = findings.filter(({ check }) =>
      ["configuration", "environment file", "secrets"].includes(check),
    );
    const failed = about.filter(({ status }) => status === "fail");
    expect(new Set(failed.map(({ check }) => check))).toEqual(new Set(["environment file"]));
    expect(exitCode).toBe(3);
    for (const { command, reason, fix } of failed) {
      expect(reason).toEndWith(": this account may not read it (EACCES)");
      expect(fix).toEqual({ text: null, command: `sudo ${secretsDir()} opsctl doctor ${command}${option}` });
    }
    const [configuration] = findings.filter(
      ({ command, check }) => command === "weekly" && check === "configuration",
    );
    expect(configuration?.reason).toMatch(/^not checked: .*, see environment file; neither were secrets, /);
    expect(JSON.stringify(about)).not.toContain("Give the account");
  });

  test("is sent to root by the overview of doctor, and to the whole list of secrets", async () => {
    const doctor = await run(["doctor"]);
    expect(doctor.stdout).toMatch(/^ {2}FAIL {2}deliveries +as weekly$/m);
    expect(doctor.stdout).toContain(
      `\nNext, for weekly:\n  sudo ${secretsDir()} opsctl doctor weekly --env-dir ${host.path("etc")}\n`,
    );
    const { exitCode, stdout } = await run(["secret", "list"]);
    expect([exitCode, stdout.split("-> ").length]).toEqual([0, 2]);
    const places = `${secretsDir()} OPSCTL_ENV_DIR=${host.path("etc")}`;
    expect(stdout).toContain(
      `it could not be read (SECRET_FILE_UNREADABLE)\n  -> sudo ${places} opsctl secret list\n`,
    );
  });

  test("leaves what the service account itself cannot read a fault", async () => {
    const folder = host.make("closed");
    host.put("closed/DATABASE_URL", "postgres://x");
    const { json } = await run(["doctor", "weekly", "--json"], {
      uid: ACCOUNT.uid,
      env: { OPSCTL_SECRETS_DIR: folder },
    });
    const found = (json.findings as Finding[]).filter(
      ({ check, status }) => check === "secrets" && status === "fail",
    );
    expect(found.map(({ code }) => code)).toEqual(["SECRET_FILE_UNREADABLE"]);
  });
});
