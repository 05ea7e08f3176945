import { type Html, html } from "../../../text/html.ts";
import { formatCount, formatNumber } from "../../../text/pt-br.ts";
import { type HourPlot, hourPlot, type PlotHour } from "./hour-plot.ts";

const HEIGHT = 100;
const HOURS = 24;
const DAYS = 7;
const BAR = { width: 0.8, left: 0.1 };
/** A few alerts must not look like a storm. */
const SMALLEST_SCALE = 5;
/** A single alert beside a storm is still seen. */
const LOWEST_BAR = 4;

/** How many alerts were accepted in each hour of the last seven days, as bars. */
export function renderPlot(counts: readonly number[], nowMs: number): Html {
  const plot = hourPlot(counts, nowMs);
  const scale = Math.max(plot.largest?.alerts ?? 0, SMALLEST_SCALE);
  const bars = plot.hours.filter(({ alerts }) => alerts > 0).map((hour) => bar(hour, plot, scale));
  return html`<figure class="panel plot">
<figcaption class="head"><h2>Alertas por hora, 7 dias</h2><span class="note">${summary(plot)}</span></figcaption>
<svg viewBox="0 0 ${DAYS * HOURS} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary(plot)}">
${midnights()}${bars}</svg>
<ul class="days">${plot.days.map((day) => html`<li>${day}</li>`)}</ul>
</figure>
`;
}

function summary({ total, largest, days }: HourPlot): string {
  if (largest === null) return "nenhum alerta";
  const when = `${days[largest.day]}, ${largest.hour} h`;
  return `${formatCount(total, "alerta", "alertas")}; máximo ${formatNumber(largest.alerts)} (${when})`;
}

function bar({ day, hour, alerts }: PlotHour, { days }: HourPlot, scale: number): Html {
  const height = Math.max((alerts / scale) * HEIGHT, LOWEST_BAR);
  const x = day * HOURS + hour + BAR.left;
  return html`<rect x="${x.toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${BAR.width}" height="${height.toFixed(1)}"><title>${days[day] ?? ""}, ${hour} h: ${formatCount(alerts, "alerta", "alertas")}</title></rect>
`;
}

function midnights(): Html[] {
  return Array.from(
    { length: DAYS },
    (_, day) =>
      html`<rect class="midnight" x="${day * HOURS}" y="0" width="0.15" height="${HEIGHT}"></rect>
`,
  );
}
