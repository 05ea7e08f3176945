import { fitToWidth } from "../text/display-width.ts";
import { singleLine } from "../text/single-line.ts";
import { fieldLines } from "../text/terminal/field-lines.ts";
import { prose, proseLines } from "../text/terminal/prose.ts";
import { NO_TERMINAL, paint, type Screen } from "../text/terminal/screen.ts";
import { stepLines } from "../text/terminal/step-lines.ts";
import { REPORT_ZONE } from "../time/local-date.ts";
import { localTime } from "../time/local-time.ts";
import type { ReportDetails, StoredDelivery } from "./details.ts";
import type { ShownReport } from "./show.ts";
import type { TimelineEntry } from "./timeline.ts";

/** A tenant's name in a heading. */
const NAME_COLUMNS = 60;

/** An id has to fit beside the time, or the text begins below it. */
const NARROWEST_TEXT = 40;
const NAME_WIDTH = 10;
const ABOUT_WIDTH = 10;

const ABOUT: Record<TimelineEntry["about"], string> = {
  report: "Report",
  whatsapp: "WhatsApp",
  email: "E-mail",
};

/** What happened to some reports, for people. */
export function renderShown(shown: readonly ShownReport[], screen: Screen = NO_TERMINAL): string {
  const texts = shown.map((one) => renderOne(one, screen));
  return `${texts.join("\n")}\n${prose([`Times are those of ${REPORT_ZONE}.`], screen)}`;
}

function renderOne(
  { tenantName, week, lastDate, timeline, next, ...owner }: ShownReport,
  screen: Screen,
): string {
  const entries = timeline.flatMap((entry) => entryLines(entry, screen));
  const steps = next.flatMap((step) => stepLines(step, screen));
  const name = fitToWidth(singleLine(tenantName ?? ""), NAME_COLUMNS) || "Tenant without a name";
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
  const [time, what] = [`  ${localTime(at)}  `, ABOUT[about]];
  const head = time + paint("label", what, screen);
  const said = singleLine(text);
  // The reason of a reconciliation may begin with a command's name: it is read, not copied.
  const hasCommand = false;
  const beside = time.length + ABOUT_WIDTH;
  const room = screen.width === null ? null : screen.width - beside;
  if (room !== null && room < NARROWEST_TEXT)
    return [head, ...proseLines(`      ${said}`, screen, { indent: "      ", hasCommand })];
  const [first, ...more] = proseLines(said, { ...screen, width: room }, { hasCommand });
  const gap = " ".repeat(ABOUT_WIDTH - what.length);
  return [head + gap + first, ...more.map((line) => " ".repeat(beside) + line)];
}
