import { fitToWidth } from "../text/display-width.ts";
import { singleLine } from "../text/single-line.ts";
import { REPORT_ZONE } from "../time/local-date.ts";
import { localTime } from "../time/local-time.ts";
import type { ReportDetails, StoredDelivery } from "./details.ts";
import type { ShownReport } from "./show.ts";
import type { TimelineEntry } from "./timeline.ts";

/** A tenant's name in a heading. */
const NAME_COLUMNS = 60;

const ABOUT: Record<TimelineEntry["about"], string> = {
  report: "Report",
  whatsapp: "WhatsApp",
  email: "E-mail",
};

/** What happened to some reports, for people. */
export function renderShown(shown: readonly ShownReport[]): string {
  return `${shown.map(renderOne).join("\n")}\nTimes are those of ${REPORT_ZONE}.\n`;
}

function renderOne({ tenantName, week, lastDate, timeline, next, ...owner }: ShownReport): string {
  const name = fitToWidth(singleLine(tenantName ?? ""), NAME_COLUMNS) || "Tenant without a name";
  const fields: [string, string][] = [
    ["Tenant", owner.tenantId + (owner.eligible ? "" : ", gets no reports any more")],
    ["User", owner.userId],
    ...states(owner.details),
  ];
  return [
    `${name}, week of ${week} to ${lastDate}\n\n`,
    ...fields.map(([title, text]) => `  ${title.padEnd(9)} ${text}\n`),
    timeline.length === 0 ? "" : `\n${timeline.map(entryLine).join("")}`,
    next.length === 0 ? "" : `\nNext:\n${next.map((line) => `  ${line}\n`).join("")}`,
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

function entryLine({ at, about, text }: TimelineEntry): string {
  return `  ${localTime(at)}  ${ABOUT[about].padEnd(8)}  ${singleLine(text)}\n`;
}
