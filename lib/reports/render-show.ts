import { singleLine } from "../text/single-line.ts";
import { fieldLines, hangingLines, prose } from "../text/terminal/prose.ts";
import { paint, type Screen } from "../text/terminal/screen.ts";
import { boundedLine } from "../text/truncate.ts";
import { REPORT_ZONE } from "../time/local-date.ts";
import { localTime } from "../time/local-time.ts";
import type { ReportDetails, StoredDelivery } from "./details.ts";
import type { ShownReport } from "./show.ts";
import type { TimelineEntry } from "./timeline.ts";

/** A tenant's name in a heading. */
const NAME_COLUMNS = 60;

const NAME_WIDTH = 10;
const ABOUT_WIDTH = 10;

const ABOUT: Record<TimelineEntry["about"], string> = {
  report: "Report",
  whatsapp: "WhatsApp",
  email: "E-mail",
};

/** What happened to some reports, for people. */
export function renderShown(shown: readonly ShownReport[], screen: Screen): string {
  const texts = shown.map((one) => renderOne(one, screen));
  return `${texts.join("\n")}\n${prose([`Times are those of ${REPORT_ZONE}.`], screen)}`;
}

function renderOne(
  { tenantName, week, lastDate, timeline, next, ...owner }: ShownReport,
  screen: Screen,
): string {
  const entries = timeline.flatMap((entry) => entryLines(entry, screen));
  const steps = next.map((command) => `  ${command}`);
  const name = boundedLine(tenantName ?? "", NAME_COLUMNS) || "Tenant without a name";
  const fields: [string, string][] = [
    ["Tenant", owner.tenantId + (owner.eligible ? "" : ", gets no reports any more")],
    ["User", owner.userId],
    ...states(owner.details),
  ];
  return [
    prose([`${name}, week of ${week} to ${lastDate}`, ""], screen),
    ...fieldLines(fields, screen, { indent: "  ", nameWidth: NAME_WIDTH }).map((line) => `${line}\n`),
    timeline.length === 0 ? "" : `\n${entries.join("\n")}\n`,
    next.length === 0 ? "" : `\nNext:\n${steps.join("\n")}\n`,
  ].join("");
}

/** Report and deliveries with their ids and states. */
function states(details: ReportDetails | null): [string, string][] {
  if (details === null) return [["Report", "missing: no run has reached this owner"]];
  const { report, deliveries } = details;
  const of = (channel: StoredDelivery["channel"]): string => {
    const delivery = deliveries.find((each) => each.channel === channel);
    return delivery === undefined ? "missing" : `${delivery.id}  ${delivery.state}`;
  };
  return [
    ["Report", `${report.id}  ${report.state}`],
    ...(report.state === "completed"
      ? ([
          ["WhatsApp", of("whatsapp")],
          ["E-mail", of("email")],
        ] as [string, string][])
      : []),
  ];
}

/** An entry behind its time; what does not fit the terminal goes on below its text. */
function entryLines({ at, about, text }: TimelineEntry, screen: Screen): string[] {
  const what = ABOUT[about];
  const gap = " ".repeat(ABOUT_WIDTH - what.length);
  const head = `  ${localTime(at)}  ${paint("label", what, screen)}${gap}`;
  return hangingLines(head, singleLine(text), screen);
}
