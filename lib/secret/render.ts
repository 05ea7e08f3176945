import { dirname } from "node:path";
import { DEFAULT_ENV_DIR } from "../platform/config/settings-table.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { isRoot, wasRoot } from "../platform/privileges.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { singleLine } from "../text/single-line.ts";
import { fixLines, prose, proseLines, unbroken } from "../text/terminal/prose.ts";
import type { Screen, Tone } from "../text/terminal/screen.ts";
import { renderTable } from "../text/terminal/table.ts";
import type { ListedSecret, SecretList } from "./list.ts";
import type { setSecret } from "./set.ts";

const STATES = { set: "set", wrong: "WRONG", missing: "MISSING", unset: "-", unknown: "?" };
const TONES: Readonly<Record<string, Tone>> = { set: "good", WRONG: "bad", MISSING: "bad" };

/** The list for people: a row per secret, then what is wrong and its fix, once for all places where it is the same. */
export function renderSecretList(
  { secrets, problems }: SecretList,
  screen: Screen,
  env: Environment = {},
): string {
  const titles = [
    { title: "SECRET" },
    { title: "STATE", tone: (cell: string) => TONES[cell] ?? null },
    { title: "AGE" },
    { title: "NEEDED BY", wraps: true },
    { title: "PLACE", wraps: true },
  ] as const;
  const rows = secrets.map(({ name, state, ageSeconds, usedBy, sources }) => {
    const users = usedBy.map(({ command, required }) => (required ? command : `(${command})`)).join(" ");
    const age = ageSeconds === null ? null : `${Math.floor(ageSeconds / 86_400)} d`;
    return [name, STATES[state], age, users, singleLine(sources.map(placeText).join(", ")) || null];
  });
  const all = [...secrets.flatMap((secret) => secret.problems), ...problems];
  const alike = Map.groupBy(all, ({ why, fix }) => JSON.stringify([why, fix])).values();
  const faults = [...alike].flatMap((same) => {
    const { why, fix } = same[0]!;
    const places = [...new Set(same.map(({ where }) => where))].join(", ");
    const said = proseLines(singleLine(`${places}: ${why}`), screen, { indent: "  " });
    return [...said, ...fixLines("  -> ", fix, screen)];
  });
  const states = secrets.map(({ state }) => state);
  const notes = [
    states.includes("missing") && `MISSING: ${unbroken("opsctl secret set <name>")} asks for it`,
    states.includes("unknown") &&
      !(isRoot() || wasRoot()) &&
      `?: this account may not look; root may: ${unbroken(sudoLine("secret list", env))}`,
    "(command): uses the secret when it is there",
    secrets.some(({ sources }) => sources.length > 0) &&
      `PLACE: a directory has a file of the secret's name; without / it is below ${DEFAULT_ENV_DIR}`,
  ].filter((note) => note !== false);
  const lines = faults.map((line) => `${line}\n`).join("");
  return `${renderTable(titles, rows, screen)}\n${lines}${prose(notes, screen, { indent: "  " })}`;
}

function placeText({ kind, where }: ListedSecret["sources"][number]): string {
  const place = where.startsWith(`${DEFAULT_ENV_DIR}/`) ? where.slice(DEFAULT_ENV_DIR.length + 1) : where;
  if (kind === "credential") return "systemd credential";
  if (kind === "file") return `${dirname(place)}/`;
  return kind === "environment file" ? place : `${kind} of ${place}`;
}

/** What was set and what has to be done next, for people. */
export function renderSecretSet(set: Awaited<ReturnType<typeof setSecret>>, screen: Screen): string {
  const { name, path, owner, mode, isNew, usedBy, next, warnings } = set;
  const done = `${name} is ${isNew ? "set" : "replaced"}: ${path} (${owner} ${mode}), for ${usedBy.join(", ")}`;
  const then =
    next.length === 0 ? "It is read at the next start." : "So that it counts in what runs already:";
  const lines = [done, ...warnings.map((text) => `Note: ${text}`), then];
  return `${prose(lines, screen, { indent: "  " })}${next.map((line) => `  ${line}\n`).join("")}`;
}
