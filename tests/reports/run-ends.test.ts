/** The end of `opsctl weekly` and `opsctl reports status` say the same of a week and name the same next steps. */
import { expect, test } from "bun:test";
import { renderStatus } from "../../lib/reports/render-status.ts";
import { readWeekStatus } from "../../lib/reports/status.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import type { WeeklySummary } from "../../lib/weekly/context/summary.ts";
import { renderSummary } from "../../lib/weekly/texts/summary-text.ts";
import { type OwnerSpec, seedOwner } from "../support/seed.ts";
import { sharedWeekly } from "../weekly/support/shared-weekly.ts";
import type { WeeklyFixture } from "../weekly/support/weekly-fixture.ts";

const shared = sharedWeekly();

/** A week: its owners, what the services answer, and the steps that are left; a run is a success without any. */
type Case = {
  owners?: OwnerSpec[];
  answers?: (weekly: WeeklyFixture) => void;
  isClean?: boolean;
  steps?: string[];
};

const LOOK_UP = "opsctl deliveries look-up --all";

/** The first networks of so many owners fail with this status. */
const failing =
  (status: number, count: number) =>
  ({ application }: WeeklyFixture) => {
    const owners: string[] = [];
    application.routes.analysis.scriptByBody = ({ body }) => {
      const { userId } = body as { userId: string };
      if (!owners.includes(userId) && owners.length < count) owners.push(userId);
      return owners.includes(userId) ? { status, json: {} } : undefined;
    };
  };
const loseOneMessage = ({ gateway }: WeeklyFixture) => gateway.routes.send.next("drop");

const CASES: Record<string, Case> = {
  "all is sent": { owners: [{}, {}], isClean: true },
  "there are no owners": { isClean: true },
  "a message failed": { owners: [{}, { phone: null }], steps: ["opsctl weekly"] },
  "the result of a message is unknown": { owners: [{}], answers: loseOneMessage, steps: [LOOK_UP] },
  "the result of a message is unknown, and an e-mail failed": {
    owners: [{}, { email: null }],
    answers: loseOneMessage,
    steps: ["opsctl weekly", LOOK_UP],
  },
  "a connection failed": { owners: [{}, {}], answers: failing(422, 1), isClean: true },
  "too many connections failed": { owners: [{}, {}, {}], answers: failing(422, 3) },
};

/** The commands that change something, among those that a text names. */
const stepsIn = (text: string) =>
  [...new Set(text.match(/opsctl (?:weekly(?! --)|deliveries (?:look-up --all|repair))/g) ?? [])].toSorted();

test.each(Object.entries(CASES))(
  "%s",
  async (_name, { owners = [], answers, isClean = false, steps = [] }) => {
    const weekly = shared();
    for (const spec of owners) await seedOwner(weekly.db.sql, spec);
    answers?.(weekly);
    const summary: WeeklySummary = await weekly.run({ concurrency: 1 });
    expect(summary.exitCode).toBe(isClean ? 0 : 1);
    const status = await readWeekStatus(weekly.db.sql, undefined);
    expect(status.clean).toBe(isClean);
    const screen = renderStatus(status, { status: "none", hasHostWorked: true }, NO_TERMINAL);
    expect(stepsIn(screen)).toEqual(steps.toSorted());
    expect(stepsIn(renderSummary(summary, NO_TERMINAL))).toEqual(steps.toSorted());
  },
);
