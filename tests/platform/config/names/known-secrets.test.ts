/** The table of secrets has every secret that a command's settings name, with the rule of those settings. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { COMMAND_FACTS } from "../../../../lib/doctor/context/command-facts.ts";
import { headerText, postgresUrl } from "../../../../lib/platform/config/config.ts";
import { commandFile } from "../../../../lib/platform/config/env-files/command-file.ts";
import { KNOWN_SECRETS, knownSecret } from "../../../../lib/platform/config/names/known-secrets.ts";
import { ROOT_SECRETS } from "../../../../lib/platform/secrets/file.ts";
import { EDITORIAL_ALIAS } from "../../../../lib/weekly/config.ts";

const LIB = join(import.meta.dirname, "../../../../lib");
const NAMES: Record<string, string> = { "[EDITORIAL_ALIAS]": EDITORIAL_ALIAS };

/** The secrets that the settings of the features declare, with the name of their rule. */
const declared = readdirSync(LIB, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.startsWith("platform/"))
  .flatMap((path) => {
    const text = readFileSync(join(LIB, path), "utf8");
    const pattern =
      /(?:^\s+|\{ )(\[?[A-Z][A-Z_]+\]?): [^\n]*?(?:required|optional)Secret\((?:\{ rule: )?(\w*(?=[ )}])|\{ from)/gm;
    return [...text.matchAll(pattern)].map(([, name, rule]) => ({
      name: NAMES[name!] ?? name!,
      rule: rule!,
    }));
  });

test("every secret of a feature's settings is in the table, with its rule", () => {
  expect(declared.length).toBeGreaterThan(15);
  expect(new Set(declared.map(({ name }) => name)).size).toBeGreaterThan(11);
  for (const { name, rule } of declared)
    expect([name, knownSecret(name)?.rule]).toEqual([
      name,
      rule === "postgresUrl" ? postgresUrl : headerText,
    ]);
});

test("the table has no secret that no command reads", () => {
  // The collector looks for the first itself, and `migrate` for the second.
  const others = ["HOSTING_TOKEN", "MIGRATE_DATABASE_URL"];
  const named = new Set([...declared.map(({ name }) => name), ...others]);
  expect(KNOWN_SECRETS.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
});

test("doctor looks for the same secrets, each for the commands that use it", () => {
  const ofDoctor = Object.entries(COMMAND_FACTS).flatMap(([command, { secrets }]) =>
    secrets.map(({ name, fromEnvironment }) => `${name} ${command} ${fromEnvironment}`),
  );
  const ofTable = KNOWN_SECRETS.flatMap(({ name, usedBy, fromEnvironment }) =>
    usedBy.map(({ command }) => `${name} ${command} ${fromEnvironment}`),
  );
  expect(ofDoctor.filter((one) => !ofTable.includes(one))).toEqual([]);
  // Doctor looks for the webhook's secret on behalf of one command alone.
  const unasked = ["WEBHOOK_SECRET alert-rules true"];
  expect(ofTable.filter((one) => !ofDoctor.includes(one))).toEqual(unasked);
});

test("what root alone reads is root's, and each command has an environment file", () => {
  const roots = KNOWN_SECRETS.filter(({ reader }) => reader === "root").map(({ name }) => name);
  expect(roots.toSorted()).toEqual(ROOT_SECRETS.toSorted());
  const commands = KNOWN_SECRETS.flatMap(({ usedBy }) => usedBy.map(({ command }) => command));
  expect(commands.filter((command) => commandFile(command) === null)).toEqual([]);
});
