import { fitToWidth } from "../text/display-width.ts";
import { singleLine } from "../text/single-line.ts";
import { stepLines } from "../text/step-lines.ts";
import { wrapText } from "../text/wrap.ts";
import { REPORT_ZONE } from "../time/local-date.ts";
import { localTime } from "../time/local-time.ts";
import type { ReportDetails, StoredDelivery } from "./details.ts";
import type { ShownReport } from "./show.ts";
import type { TimelineEntry } from "./timeline.ts";

/** A tenant's name in a heading. */
const NAME_COLUMNS = 60;

/** An id has to fit beside the time. */
const NARROWEST_TEXT = 40;

const ABOUT: Record<TimelineEntry["about"], string> = {
  report: "Report",
  whatsapp: "WhatsApp",
  email: "E-mail",
};

/**
 * What happened to some reports, for people.
 *
 * Units: `width` is in columns of the terminal, null where there is none.
 */
export function renderShown(shown: readonly ShownReport[], width: number | null): string {
  return `${shown.map((one) => renderOne(one, width)).join("\n")}\nTimes are those of ${REPORT_ZONE}.\n`;
}

function renderOne(
  { tenantName, week, lastDate, timeline, next, ...owner }: ShownReport,
  width: number | null,
): string {
  const entries = timeline.flatMap((entry) => entryLines(entry, width));
  const steps = next.flatMap((step) => stepLines(step, width));
  const name = fitToWidth(singleLine(tenantName ?? ""), NAME_COLUMNS) || "Tenant without a name";
  const fields: [string, string][] = [
    ["Tenant", owner.tenantId + (owner.eligible ? "" : ", gets no reports any more")],
    ["User", owner.userId],
    ...states(owner.details),
  ];
  return [
    `${name}, week of ${week} to ${lastDate}\n\n`,
    ...fields.map(([title, text]) => `  ${title.padEnd(9)} ${text}\n`),
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
function entryLines({ at, about, text }: TimelineEntry, width: number | null): string[] {
  const start = `  ${localTime(at)}  ${ABOUT[about].padEnd(8)}  `;
  const said = singleLine(text);
  if (width === null) return [start + said];
  const [first, ...more] = wrapText(said, Math.max(width - start.length, NARROWEST_TEXT));
  return [start + first, ...more.map((line) => " ".repeat(start.length) + line)];
}
