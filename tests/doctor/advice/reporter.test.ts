import { describe, expect, test } from "bun:test";
import { ownAdvice, reporterOf } from "../../../lib/doctor/advice/reporter.ts";
import { OpsError } from "../../../lib/platform/errors.ts";

const account = { name: "opsctl", uid: 64001, gid: 64001, home: "/" };
const of = (more: Partial<Parameters<typeof reporterOf>[1]> = {}) =>
  reporterOf(account, { env: {}, envDir: "/etc/opsctl", handedLogin: null, ...more });

describe("reporterOf()", () => {
  test("is the account with the places of an installation", () =>
    expect(of()).toEqual({
      ...{ name: "opsctl", uid: 64001, gid: 64001, envDir: "/etc/opsctl" },
      directories: ["/var/lib/opsctl", "/var/log/opsctl"],
      settings: ["/etc/opsctl"],
      ...{ chosen: [], secrets: [], secretsDir: null, ownAdvice: expect.any(Array) },
    }));

  test("has the directory of this examination, and what root's environment names", () => {
    const env = { OPSCTL_STATE_DIR: "/srv/states", OPSCTL_SECRETS_DIR: "/srv/keys" };
    expect(of({ env, envDir: "/etc/opsctl/staging/" })).toMatchObject({
      ...{ envDir: "/etc/opsctl/staging", settings: ["/etc/opsctl", "/etc/opsctl/staging"] },
      ...{ chosen: ["/srv/states"], secrets: ["/srv/keys"], secretsDir: "/srv/keys" },
    });
  });

  test("has what root itself advises about the login that it could not read", () => {
    const error = new OpsError({ code: "SECRET_FILE_EXPOSED", message: "m", hint: "chmod 0600 /x" });
    expect(of({ handedLogin: { status: "failed", error } }).ownAdvice).toContain("chmod 0600 /x");
  });
});

describe("ownAdvice()", () => {
  test("is to look as root, and to look again, at the files of this examination", () => {
    const env = { OPSCTL_SECRETS_DIR: "/srv/keys" };
    const advice = ownAdvice({ env, envDir: "/etc/opsctl/staging", handedLogin: null });
    for (const line of [
      "sudo OPSCTL_SECRETS_DIR=/srv/keys opsctl doctor weekly --env-dir /etc/opsctl/staging",
      "See that the database runs and answers, then: opsctl doctor weekly --env-dir /etc/opsctl/staging",
      "See whether this host is too busy, or a disk hangs (log directory), then: opsctl doctor weekly --env-dir /etc/opsctl/staging",
    ])
      expect(advice).toContain(line);
    expect(advice.filter((line) => !line.endsWith(" --env-dir /etc/opsctl/staging"))).toEqual([]);
  });
});
