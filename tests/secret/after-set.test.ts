/** What is said after a secret was set: what has to be done, and what else has a value. */
import { describe, expect, test } from "bun:test";
import { KNOWN_SECRETS, knownSecret } from "../../lib/platform/config/names/known-secrets.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { conflictsOf, nextSteps, warningsAbout } from "../../lib/secret/after-set.ts";
import type { FileFacts } from "../../lib/secret/file-facts.ts";
import { placeOf } from "../../lib/secret/place.ts";
import type { DirectoryRefusal } from "../../lib/secret/refused-directory.ts";
import { READER } from "./support/places.ts";

const file = (name: string, more: Partial<FileFacts> = {}): FileFacts => ({
  ...{ name, path: `/etc/opsctl/${name}`, secrets: [], wanted: [], secretsDir: null, hasCommand: false },
  ...{ problem: null, isClosed: false, ...more },
});

const conflicts = (
  name: string,
  found: {
    env?: Record<string, string>;
    facts?: FileFacts[];
    credential?: string;
    refusal?: DirectoryRefusal;
  } = {},
) => {
  const secret = knownSecret(name)!;
  const { env = {}, facts = [], credential = null, refusal = null } = found;
  const place = placeOf(secret, secret.reader === "root" ? null : READER, {});
  return conflictsOf(secret, place, { env, facts, credential, refusalOf: () => refusal });
};

describe("placeOf()", () => {
  test("puts what root reads into root's directory, and everything else where the account reads", () => {
    const at = (name: string, env = {}) => {
      const secret = knownSecret(name)!;
      return placeOf(secret, secret.reader === "root" ? null : READER, env).path;
    };
    expect(at("DATABASE_URL")).toBe("/etc/opsctl/secrets/DATABASE_URL");
    expect(at("HOSTING_TOKEN")).toBe("/etc/opsctl/root-secrets/HOSTING_TOKEN");
    const moved = { OPSCTL_SECRETS_DIR: "/srv/s" };
    expect([at("DATABASE_URL", moved), at("HOSTING_TOKEN", moved)]).toEqual([
      "/srv/s/DATABASE_URL",
      "/srv/s/HOSTING_TOKEN",
    ]);
    // Root reads it nowhere else.
    expect(at("MIGRATE_DATABASE_URL", moved)).toBe("/etc/opsctl/root-secrets/MIGRATE_DATABASE_URL");
    expect(() => at("DATABASE_URL", { OPSCTL_SECRETS_DIR: "s" })).toThrow("not an absolute path");
  });
});

describe("warningsAbout()", () => {
  test("says when the account cannot read it, and when a blank was copied, too", () => {
    const about = (name: string, value: string, isForRoot: boolean) =>
      warningsAbout(knownSecret(name)!, { value: new Secret(value), isForRoot });
    expect(about("DATABASE_URL", "a-value", true)).toEqual([expect.stringContaining("--as-is")]);
    expect(about("HOSTING_TOKEN", "a-value-of-some-length", true)).toEqual([]);
    expect(about("DATABASE_URL", "a-value ", false)).toEqual(["the value begins or ends with a blank"]);
  });
});

describe("nextSteps()", () => {
  test("reloads the webhook for what it reads, restarts it for its state, and does nothing for cron's commands", () => {
    const steps = Object.fromEntries(KNOWN_SECRETS.map((secret) => [secret.name, nextSteps(secret)]));
    const reload = "systemctl reload opsctl-webhook.service";
    expect(steps.MESSAGING_API_KEY).toEqual([reload]);
    expect(steps.WEBHOOK_SECRET).toEqual([reload, expect.stringContaining("contact-point apply --rotate")]);
    expect(steps.OPSCTL_STATE_URL).toEqual(["systemctl restart opsctl-webhook.service"]);
    const ofCron = ["DATABASE_URL", "TRIGGER_SECRET", "HOSTING_TOKEN", "MIGRATE_DATABASE_URL"];
    expect(ofCron.flatMap((name) => steps[name])).toEqual([]);
  });
});

describe("conflictsOf()", () => {
  test("is empty where the file is the only place", () => {
    const facts = [file("weekly.env", { secrets: ["TRIGGER_SECRET"] }), file("webhook.env")];
    expect(conflicts("DATABASE_URL", { facts, env: { TRIGGER_SECRET: "x" } })).toEqual([]);
  });

  test("names a variable of the terminal and of a file that it overrules, without the values", () => {
    const facts = [file("weekly.env", { secrets: ["DATABASE_URL"] })];
    const told = conflicts("DATABASE_URL", { facts, env: { DATABASE_URL: "postgres://a:canary@h/d" } });
    expect(told).toEqual([
      "DATABASE_URL is set in this terminal's environment: it is not used any more, unset DATABASE_URL",
      "DATABASE_URL is set in /etc/opsctl/weekly.env, too: it is not used any more, remove it there",
    ]);
  });

  test("says what goes on counting: a credential, and the webhook's file for the socket monitor", () => {
    const facts = [file("webhook.env", { secrets: ["MESSAGING_API_KEY"] })];
    expect(conflicts("MESSAGING_API_KEY", { facts, credential: "/run/c/MESSAGING_API_KEY" })).toEqual([
      "the webhook goes on using its systemd credential /run/c/MESSAGING_API_KEY, which comes before a file",
      "MESSAGING_API_KEY is set in /etc/opsctl/webhook.env, too: socket-monitor goes on using that one, remove it there",
    ]);
  });

  test("says which command looks for the file in another directory, and how to put it there", () => {
    const facts = [
      file("weekly.env", { secretsDir: "/srv/secrets" }),
      file("webhook.env", { secretsDir: "/srv/others" }),
    ];
    expect(conflicts("DATABASE_URL", { facts })).toEqual([
      "weekly, reports, deliveries, migrate does not read /etc/opsctl/secrets/DATABASE_URL: /etc/opsctl/weekly.env names /srv/secrets. Look at it, then: OPSCTL_SECRETS_DIR=/srv/secrets opsctl secret set DATABASE_URL",
    ]);
    const same = [file("weekly.env", { secretsDir: "/etc/opsctl/secrets/" })];
    expect(conflicts("DATABASE_URL", { facts: same })).toEqual([]);
  });

  test("believes the collector's file, which is root's own", () => {
    const facts = [file("collect-metrics.env", { secretsDir: "/srv/keys" })];
    expect(conflicts("HOSTING_TOKEN", { facts, refusal: "taken" })).toEqual([
      "collect-metrics does not read /etc/opsctl/root-secrets/HOSTING_TOKEN: /etc/opsctl/collect-metrics.env names /srv/keys. Look at it, then: OPSCTL_SECRETS_DIR=/srv/keys opsctl secret set HOSTING_TOKEN",
    ]);
  });

  test("gives the directory as one word of a shell, and no line where root does not vouch for it", () => {
    const facts = [file("weekly.env", { secretsDir: "/srv/s;reboot" })];
    const told = conflicts("DATABASE_URL", { facts })[0];
    expect(told).toEndWith(
      "names '/srv/s;reboot'. Look at it, then: OPSCTL_SECRETS_DIR='/srv/s;reboot' opsctl secret set DATABASE_URL",
    );
    const root = [file("weekly.env", { secretsDir: "/root" })];
    const refused = conflicts("DATABASE_URL", { facts: root, refusal: "system" })[0];
    expect(refused).toContain(
      "/etc/opsctl/weekly.env names /root. Correct OPSCTL_SECRETS_DIR: /root is named in",
    );
    expect(refused).not.toContain("opsctl secret set");
  });
});
