/** Each fault of a host leads to the one finding that names it: command, check, status and code. */
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { codeBook } from "../../lib/codes/explain.ts";
import type { Finding } from "../../lib/doctor/context.ts";
import { renderFindings } from "../../lib/doctor/render.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { page } from "../support/documents.ts";
import { requires } from "../support/requires.ts";
import type { Fault, Faults } from "./faults/fault.ts";
import { METRICS } from "./faults/metrics.ts";
import { RECEIVERS } from "./faults/receivers.ts";
import { SETTINGS } from "./faults/settings.ts";
import { WEBHOOK } from "./faults/webhook.ts";
import { WEEKLY } from "./faults/weekly.ts";
import { fixOf, openHost } from "./support/host.ts";

// `UPDATE_GOLDEN=1 make test ONLY=tests/doctor/faults.test.ts` writes the file again; read the difference before committing.
const GOLDEN = new URL("../golden/doctor-codes.txt", import.meta.url).pathname;

/** How the first finding of each code is shown. */
const shown = new Map<string, string>();

/** A test of each fault, on a host of its own. */
function testFaults(faults: Faults): void {
  for (const [what, fault] of Object.entries(faults))
    requires(...(fault.needs ?? [])).test(what, () => expectFound(fault));
}

async function expectFound({ finds, about = "", spoil }: Fault): Promise<void> {
  await using host = await openHost();
  // A check that is slow on a busy machine must not count as a fault.
  host.dependencies.limitMs = 20_000;
  host.dependencies.callLimitMs = 20_000;
  await spoil(host);
  const [command, check, status, code] = finds;
  const findings = await host.examine(command);
  const said = (one: Finding) => `${one.reason} -> ${fixOf(one)}`.replaceAll(host.folder, "~");
  // What several checks lack for the same reason is one finding, which names the others.
  const others = (one: Finding) => /; neither (?:was|were) (.*)$/.exec(one.reason)?.[1]?.split(", ") ?? [];
  const ofCheck = findings.filter((one) => one.check === check || others(one).includes(check));
  const found = ofCheck.filter((one) => one.code === code && said(one).includes(about));
  if (found.length !== 1) throw new Error(`${code} ${about}, but: ${ofCheck.map(said).join("; ")}`);
  expect([found[0]!.command, found[0]!.status]).toEqual([command, status]);
  expect(status === "pass" || status === "not_set_up").toBe(code === null);
  expect(JSON.stringify(findings)).not.toMatch(/canary|CANARY|secret-of-the-url|an-alias-of/);
  if (code !== null && !shown.has(code)) shown.set(code, shownOf(found[0]!, host.folder));
}

describe("doctor finds a fault of settings, secrets and the database:", () => testFaults(SETTINGS));
describe("doctor finds a fault of the weekly run:", () => testFaults(WEEKLY));
describe("doctor finds a fault of the webhook and the socket monitor:", () => testFaults(WEBHOOK));
describe("doctor finds a fault of the collector and the alert rules:", () => testFaults(METRICS));
describe("doctor finds a fault of the rules' receivers:", () => testFaults(RECEIVERS));

test("the text for people of each code is the golden one", () => {
  const drawn = [...shown].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text);
  const text = drawn.join("\n");
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(GOLDEN, text);
  expect(text).toBe(readFileSync(GOLDEN, "utf8"));
});

test("docs/codes.md explains each code, and its section on doctor has no other", () => {
  const codes = codeBook(page("docs/codes.md").text);
  expect([...shown.keys()].filter((code) => codes.explain(code).length === 0)).toEqual([]);
  const ofDoctor = codes.codes().filter(({ section }) => section === "Findings of doctor");
  // No row makes these: a service that hangs, an error nobody expected, a directory that is closed to root, PostgreSQL 14.
  const unmade = ["CHECK_TIMED_OUT", "CHECK_FAILED", "DIRECTORY_CLOSED", "DATABASE_TOO_OLD"];
  const others = ofDoctor.map(({ code }) => code).filter((code) => !shown.has(code));
  expect(others).toEqual(unmade);
});

/** The finding as doctor prints it, below its code; without what differs from host to host. */
function shownOf(finding: Finding, folder: string): string {
  const lines = renderFindings([finding], NO_TERMINAL).split("\n").slice(1, -3);
  const text = lines.join("\n").replaceAll(folder, "~");
  const varying = /(?<=[ug]id |login_|127\.0\.0\.1:)\w+|\d+\.\d(?= s apart)/g;
  return `${finding.code}\n${text.replaceAll(varying, "N")}\n`;
}
