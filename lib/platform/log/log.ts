import { type ConsolaInstance, createConsola } from "consola/core";
import { jsonText } from "../json-text.ts";
import { withoutControls } from "../replace-unseen.ts";
import { redact, redactValues } from "../secrets/redact.ts";
import type { LogFormat } from "./log-format.ts";
import { type TextStream, writeLine } from "./progress.ts";

/** The levels of `OPSCTL_LOG_LEVEL`, most talkative first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** How important a line is. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The log of a command: a message, and separately the values that belong to it. */
export type Log = Record<LogLevel, (msg: string, fields?: Record<string, unknown>) => void>;

/** Wraps a line for a terminal: the lines after the first begin with `indent`, and nothing breaks at a no-break space. */
export type WrapLine = (line: string, indent: string) => string[];

/**
 * A log on `stream`: as `text` lines for people, the field `hint` below the message; as `json` one object a line
 * (`time`, `level`, `msg`, fields).
 *
 * Shape:     `wrap` is for a terminal; without it each line stays whole.
 * Behaviour: no HTML comes here: callers log codes, ids and counts, never a payload or what a peer answered. What
 *            reorders or hides text is written as an escape. Everything passes through `redact`. `CI`, `NODE_ENV` and
 *            `DEBUG` do not change the level, and equal lines are never folded into one.
 */
export function createLog(options: {
  stream: TextStream;
  format: LogFormat;
  level: LogLevel;
  colour?: boolean;
  wrap?: WrapLine | null;
  now?: () => Date;
}): Log {
  const { stream, format, level, colour = false, wrap, now = () => new Date() } = options;
  const look = { colour, wrap: wrap ?? wholeLine };
  const render = format === "text" ? (line: Line) => renderForPeople(line, look) : renderJson;
  // Made at the first line: most runs of a short command write none.
  let consola: ConsolaInstance | null = null;
  const lines = () =>
    createConsola({
      level: CONSOLA_LEVELS[level],
      throttle: 0,
      reporters: [
        {
          log({ type, args: [msg, fields] }) {
            writeLine(stream, render({ time: now(), level: type as LogLevel, msg, fields }));
          },
        },
      ],
    });
  const write =
    (type: LogLevel) =>
    (msg: string, fields: Record<string, unknown> = {}) => {
      // Checked here, because redacting a line that is not written would cost more than the rest.
      if (CONSOLA_LEVELS[type] > CONSOLA_LEVELS[level]) return;
      consola ??= lines();
      consola[type].raw(redact(msg), redactFields(fields));
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

type Line = { time: Date; level: LogLevel; msg: string; fields: Record<string, unknown> };

const CONSOLA_LEVELS: Record<LogLevel, number> = { error: 0, warn: 1, info: 3, debug: 4 };
/** The colour of each level, as the number with which a terminal is told it. */
const COLOURS = { debug: 90, info: 36, warn: 33, error: 31 } as const;

function renderJson({ time, level, msg, fields }: Line): string {
  const fixed = { time: time.toISOString(), level, msg };
  return jsonText({ ...fixed, ...fields, ...fixed });
}

const wholeLine: WrapLine = (line) => [line.replaceAll(NO_BREAK, " ")];

function renderForPeople({ time, level, msg, fields }: Line, { colour, wrap }: Look): string {
  const label = level.padEnd(5);
  const head = `${time.toISOString().slice(11, 19)} ${label} `;
  const lines = linesOf({ head, msg, fields }, wrap);
  const painted = colour ? head.replace(label, `\u001b[${COLOURS[level]}m${label}\u001b[39m`) : head;
  const text = lines.join("\n");
  return text.startsWith(head) ? painted + text.slice(head.length) : text;
}

type Look = { colour: boolean; wrap: WrapLine };

function linesOf(
  { head, msg, fields: { hint, ...fields } }: Pick<Line, "msg" | "fields"> & { head: string },
  wrap: WrapLine,
): string[] {
  const values = Object.entries(fields).map(([key, value]) => ` ${key}=${heldTogether(renderValue(value))}`);
  // The values belong to the whole message: after its last line they would seem to belong to that line only.
  const [first = "", ...more] = withoutControls(msg).split("\n");
  const [fix, ...moreFixes] = hint === undefined ? [] : withoutControls(String(hint)).split("\n");
  return [
    ...wrap(head + first + withoutControls(values.join("")), UNDER),
    ...more.flatMap((line) => wrap(line, UNDER)),
    ...(fix === undefined ? [] : wrap(FIX_HEAD + fix, " ".repeat(FIX_HEAD.length))),
    ...moreFixes.flatMap((line) => wrap(line, "")),
  ];
}

/** A blank at which nothing breaks a line; none of it is written. */
const NO_BREAK = "\u00A0";
/** A longer value may be broken: on a line of its own it would hardly fit. */
const HELD_TOGETHER = 60;

function heldTogether(value: string): string {
  return value.length > HELD_TOGETHER ? value : value.replaceAll(" ", NO_BREAK);
}

/** Before the lines that go on with a sentence. */
const UNDER = "    ";
/** Before a hint. */
const FIX_HEAD = "  -> ";

function renderValue(value: unknown): string {
  return typeof value === "string" && /^[^\s"]+$/.test(value)
    ? value
    : (JSON.stringify(value) ?? "undefined");
}

function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  try {
    // A round trip through JSON: what cannot be written as JSON is dropped here, once, for both forms.
    const plain: unknown = JSON.parse(JSON.stringify(fields, errorAsText));
    return redactValues(plain) as Record<string, unknown>;
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
