import { dirname } from "node:path";
import { DEFAULT_ENV_DIR } from "../platform/config/settings-table.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { singleLine } from "../text/single-line.ts";
import { fixLines, proseLines, unbroken } from "../text/terminal/prose.ts";
import { NO_TERMINAL, type Screen, type Tone } from "../text/terminal/screen.ts";
import { type Column, renderTable } from "../text/terminal/table.ts";
import {
  type ListedSecret,
  type SecretList,
  type SecretProblem,
  type SecretSource,
  seenByRoot,
} from "./list.ts";

const DAY_S = 86_400;
const HOUR_S = 3_600;
const MINUTE_S = 60;

/** From here on the whole path of a secret's file has a place in the table. */
const WIDE = 120;
const BELOW = `PLACE: the file has the secret's name; a directory without / before it is below ${DEFAULT_ENV_DIR}`;

const STATES: Record<ListedSecret["state"], string> = {
  set: "set",
  wrong: "WRONG",
  missing: "MISSING",
  unset: "-",
  unknown: "?",
};

const TONES: Record<string, Tone> = { [STATES.set]: "good", [STATES.wrong]: "bad", [STATES.missing]: "bad" };

const COLUMNS: readonly Column[] = [
  { title: "SECRET" },
  { title: "STATE", tone: (cell) => TONES[cell] ?? null },
  { title: "AGE" },
  { title: "NEEDED BY", wraps: true },
  { title: "PLACE", wraps: true },
];

/** The list for people: a row per secret, then what is wrong and its fix. */
export function renderSecretList(
  { secrets, problems }: SecretList,
  screen: Screen = NO_TERMINAL,
  env: Environment = {},
): string {
  const isShort = screen.width !== null && screen.width < WIDE;
  const table = renderTable(
    COLUMNS,
    secrets.map((secret) => row(secret, isShort)),
    screen,
  );
  const faults = together([...secrets.flatMap((secret) => secret.problems), ...problems]);
  const lines = [
    ...faults.flatMap((fault) => problemLines(fault, screen)),
    ...[
      ...notes(secrets, { isExplained: problems.length > 0, env }),
      ...(isShort && secrets.some(({ sources }) => sources.length > 0) ? [BELOW] : []),
    ].flatMap((note) => proseLines(note, screen, { indent: "  " })),
  ];
  return `${table}\n${lines.join("\n")}\n`;
}

/** What is wrong in the same way at several places is told once. */
function together(faults: readonly SecretProblem[]): SecretProblem[] {
  const same = Map.groupBy(faults, ({ why, fix }) => JSON.stringify([why, fix]));
  return [...same.values()].map((alike) => {
    const where = alike.map((fault) => fault.where).join(", ");
    return { ...(alike[0] as SecretProblem), where };
  });
}

function notes(
  secrets: readonly ListedSecret[],
  { isExplained, env }: { isExplained: boolean; env: Environment },
): string[] {
  const unknown = isExplained
    ? "?: one of its places could not be looked at, as said above"
    : `?: one of its places could not be looked at; this shows all of them: ${unbroken(seenByRoot(env).command ?? "")}`;
  const has = (state: ListedSecret["state"]) => secrets.some((secret) => secret.state === state);
  return [
    ...(has("missing")
      ? [`MISSING: ${unbroken("opsctl secret set <name>")} asks for it and puts it where it is found`]
      : []),
    ...(has("unknown") ? [unknown] : []),
    "(command): uses the secret when it is there",
  ];
}

function row(
  { name, state, ageSeconds, usedBy, sources }: ListedSecret,
  isShort: boolean,
): (string | null)[] {
  const needed = usedBy.filter(({ required }) => required).map(({ command }) => command);
  const others = usedBy.filter(({ required }) => !required).map(({ command }) => `(${command})`);
  const age = ageSeconds === null ? null : ageText(ageSeconds);
  return [
    name,
    STATES[state],
    age,
    [...needed, ...others].join(" "),
    singleLine(sources.map((source) => (isShort ? shortText(source) : sourceText(source))).join(", ")) ||
      null,
  ];
}

/** Without the folder that all have in common, and the secret's name, which stands at the head of the row. */
function shortText({ kind, where }: SecretSource): string {
  const place = where.startsWith(`${DEFAULT_ENV_DIR}/`) ? where.slice(DEFAULT_ENV_DIR.length + 1) : where;
  if (kind === "credential") return "systemd credential";
  if (kind === "file") return `${dirname(place)}/`;
  return sourceText({ kind, where: place });
}

function sourceText({ kind, where }: SecretSource): string {
  if (kind === "file" || kind === "environment file") return where;
  if (kind === "credential") return `systemd credential ${where}`;
  return kind === "command" ? `the command of ${where}` : `environment of ${where}`;
}

function problemLines({ where, why, fix }: SecretProblem, screen: Screen): string[] {
  const said = singleLine(`${where}: ${why}`);
  return [...proseLines(said, screen, { indent: "  " }), ...fixLines("  -> ", fix, screen)];
}

function ageText(seconds: number): string {
  if (seconds >= DAY_S) return `${Math.floor(seconds / DAY_S)} d`;
  if (seconds >= HOUR_S) return `${Math.floor(seconds / HOUR_S)} h`;
  return `${Math.floor(seconds / MINUTE_S)} min`;
}
