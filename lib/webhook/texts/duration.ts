const MINUTE_MS = 60_000;
const MINUTES_PER_HOUR = 60;
const HOURS_PER_DAY = 24;

/** How long something takes, for people: `menos de 1 min`, `42 min`, `4 h`, `4 h 5 min`, `2 d 3 h`. */
export function durationText(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 1) return "menos de 1 min";
  const hours = Math.floor(minutes / MINUTES_PER_HOUR);
  if (hours < 1) return `${minutes} min`;
  if (hours < HOURS_PER_DAY) return twoParts([hours, "h"], [minutes % MINUTES_PER_HOUR, "min"]);
  return twoParts([Math.floor(hours / HOURS_PER_DAY), "d"], [hours % HOURS_PER_DAY, "h"]);
}

function twoParts([large, unit]: [number, string], [small, smallUnit]: [number, string]): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}
