import { type ConsolaInstance, createConsola } from "consola/core";
import { jsonText, withoutControls } from "../replace-unseen.ts";
import { redact, redactValues } from "../secrets/redact.ts";
import { type TextStream, writeLine } from "./progress.ts";

/** How the lines of a log are written: for people, or one JSON object each. */
export const LOG_FORMATS = ["text", "json"] as const;

/** One of these forms. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** The levels of `OPSCTL_LOG_LEVEL`, most talkative first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** How important a line is. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The log of a command: a message, and separately the values that belong to it. */
export type Log = Record<LogLevel, (msg: string, fields?: Record<string, unknown>) => void>;

/**
 * A log on `stream`: as `text` lines for people, the field `hint` below the message; as `json` one object a line
 * (`time`, `level`, `msg`, fields).
 *
 * Behaviour: no HTML comes here: callers log codes, ids and counts, never a payload or an answer. What reorders or
 *            hides text is written as an escape. Everything passes through `redact`. `CI`, `NODE_ENV` and `DEBUG` do
 *            not change the level, and equal lines are never folded into one.
 */
export function createLog(options: {
  stream: TextStream;
  format: LogFormat;
  level: LogLevel;
  colour?: boolean;
  now?: () => Date;
}): Log {
  const { stream, format, level, colour = false, now = () => new Date() } = options;
  const render = format === "text" ? (line: Line) => renderForPeople(line, colour) : renderJson;
  // Made at the first line: most runs of a short command write none.
  let consola: ConsolaInstance | null = null;
  const reporter = {
    log({ type, args: [msg, fields] }: { type: string; args: unknown[] }) {
      const line = { time: now().toISOString(), level: type as LogLevel, msg: String(msg), fields };
      writeLine(stream, render(line as Line));
    },
  };
  const write =
    (type: LogLevel) =>
    (msg: string, fields: Record<string, unknown> = {}) => {
      // Checked here, because redacting a line that is not written would cost more than the rest.
      if (CONSOLA_LEVELS[type] > CONSOLA_LEVELS[level]) return;
      consola ??= createConsola({ level: CONSOLA_LEVELS[level], throttle: 0, reporters: [reporter] });
      consola[type].raw(redact(msg), redactFields(fields));
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

type Line = { time: string; level: LogLevel; msg: string; fields: Record<string, unknown> };

const CONSOLA_LEVELS: Record<LogLevel, number> = { error: 0, warn: 1, info: 3, debug: 4 };
/** The colour of each level, as the number that a terminal takes for it. */
const COLOURS = { debug: 90, info: 36, warn: 33, error: 31 } as const;

function renderJson({ fields, ...fixed }: Line): string {
  return jsonText({ ...fixed, ...fields, ...fixed });
}

/** Each line stays whole, whatever the terminal's width: what is copied from it is whole too. */
function renderForPeople({ time, level, msg, fields }: Line, colour: boolean): string {
  const { hint, ...values } = fields;
  const label = colour ? `\u001b[${COLOURS[level]}m${level.padEnd(5)}\u001b[39m` : level.padEnd(5);
  const shown = Object.entries(values).map(([key, value]) => ` ${key}=${renderValue(value)}`);
  // The values belong to the whole message: after its last line they would seem to belong to that line only.
  const [first, ...more] = msg.split("\n");
  const fixes = hint === undefined ? [] : [`  -> ${hint}`];
  const text = [`${first}${shown.join("")}`, ...more, ...fixes].join("\n");
  return `${time.slice(11, 19)} ${label} ${withoutControls(text)}`;
}

function renderValue(value: unknown): string {
  const isWord = typeof value === "string" && /^[^\s"]+$/.test(value);
  return isWord ? value : (JSON.stringify(value) ?? "undefined");
}

/** A round trip through JSON: what cannot be written as JSON is dropped here, once, for both forms. */
function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  try {
    return redactValues(JSON.parse(JSON.stringify(fields, errorAsText))) as Record<string, unknown>;
  } catch {
    return { fields: "not printable" };
  }
}

function errorAsText(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (!(value instanceof Error)) return value;
  const { code } = value as { code?: unknown };
  return typeof code === "string" ? { code, message: value.message } : { message: value.message };
}
