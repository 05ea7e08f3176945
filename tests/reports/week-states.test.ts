/**
 * `opsctl status`, `opsctl reports status` and `opsctl doctor weekly` over every state of a week: all of them lead to the
 * same next step. The golden file has what each state comes to, and one text for each of these outcomes.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import type { Finding } from "../../lib/doctor/context.ts";
import { WEEK_STATES, type WeekState } from "../cases/week-states.ts";
import { fixOf } from "../doctor/support/host.ts";
import { type Look, type LookingHost, openLookingHost } from "./support/looks.ts";

// `UPDATE_GOLDEN=1 make test ONLY=tests/reports/week-states.test.ts` writes the file anew; read the difference before committing.
const GOLDEN = new URL("../golden/week-states.txt", import.meta.url).pathname;

let host: LookingHost;
beforeAll(async () => {
  host = await openLookingHost();
});
afterAll(async () => await host[Symbol.asyncDispose]());

/** What each state comes to, and the text of the first state that comes to it. */
const outcomes: string[] = [];
const texts = new Map<string, string>();

const codeText = ({ status, code }: Finding) => `${status}${code === null ? "" : ` ${code}`}`;

const findingText = (finding: Finding) =>
  `${codeText(finding)}: ${finding.reason}${finding.fix === null ? "" : ` -> ${fixOf(finding)}`}`;

/** The commands that a text names, each once. */
const commandsIn = (text: string) => [...new Set(text.match(/opsctl [a-z][^\n;,]*/g) ?? [])];

function textOf({ name, noDatabase = false }: WeekState, { status, reports, doctor }: Look): string {
  const [heading, ...lines] = reports.text.split("\n");
  const next = status.next === null ? "" : ` -> ${status.next}`;
  const screen = [`exit ${reports.exitCode}, ${heading}`, ...commandsIn(lines.join("\n"))];
  const lastRun =
    lines
      .find((line) => line.startsWith("  Last run"))
      ?.replace("  Last run  ", "")
      .replace(/, on \S+$/, ", on <host>") ?? "none";
  return [
    name,
    `  status     ${status.status}: ${status.line.replaceAll("\n", "; ")}${next}`,
    ...(noDatabase ? [] : [`  reports    ${screen.join(" -> ")}`, `             last run: ${lastRun}`]),
    ...doctor.map((finding) => `  doctor     ${findingText(finding)}`),
  ].join("\n");
}

/** The commands that change something, among those that a text names. */
const stepsIn = (text: string) => [
  ...new Set(text.match(/opsctl (?:weekly(?! --)|deliveries (?:look-up --all|repair))/g) ?? []),
];

/** The command that says what a person has to decide where no run helps. */
const decisionIn = (text: string) => /opsctl explain (?:LEDGER_WENT_BACK|OWNERS_DROPPED)/.exec(text)?.[0];

/** That all commands want a person in the same cases, name the same steps, and count the same. */
function expectAgreement({ status, reports, week, doctor }: Look): void {
  const wishes = doctor.filter(({ status: is, isNote }) => is === "fail" || (is === "warn" && !isNote));
  const named = `${status.next ?? ""}\n${wishes.map(fixOf).join("\n")}`;
  expect(wishes.length > 0).toBe(status.status === "attention");
  if (!/opsctl (?:reports status|doctor weekly)/.test(named))
    expect(stepsIn(reports.text)).toEqual(expect.arrayContaining(stepsIn(named)));
  expect(decisionIn(named)).toBe(decisionIn(reports.text));
  const counted = week.open.filter(({ step }) => step !== "social").map(({ count }) => count);
  expect(status.open).toBe(counted.reduce((sum, count) => sum + count, 0));
  expect([week.clean, reports.exitCode]).toEqual(week.open.length === 0 ? [true, 0] : [false, 1]);
}

describe("status, reports and doctor lead to the same next step for", () => {
  test.each(WEEK_STATES)("$name", async (state) => {
    await host.make(state);
    const look = await host.look();
    if (!state.noDatabase) expectAgreement(look);
    const { status, reports, doctor } = look;
    const outcome = [status.status, ...doctor.map(codeText)].join(", ");
    const steps = state.noDatabase ? [] : [`exit ${reports.exitCode}`, ...commandsIn(reports.text)];
    outcomes.push(`${state.name}: ${[outcome, ...steps].join(" -> ")}`);
    if (!texts.has(outcome)) texts.set(outcome, textOf(state, look));
  });
});

test("the outcome of each state, and the text of each outcome, are the golden ones", () => {
  const text = `${[outcomes.join("\n"), ...texts.values()].join("\n\n")}\n`;
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(GOLDEN, text);
  expect(text).toBe(readFileSync(GOLDEN, "utf8"));
});
