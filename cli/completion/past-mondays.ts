const DAY_MS = 86_400_000;
const ZONE = "America/Sao_Paulo";

/**
 * `count` Mondays as `YYYY-MM-DD`, the newest first: first days of weeks that have closed in São Paulo.
 *
 * Shape: the first one is that of the last closed week, `skipped` weeks earlier.
 */
export function pastMondays(now: Date, { count, skipped }: { count: number; skipped: number }): string[] {
  const today = new Date(`${new Intl.DateTimeFormat("sv-SE", { timeZone: ZONE }).format(now)}T00:00:00Z`);
  const sinceMonday = (today.getUTCDay() + 6) % 7;
  const last = today.getTime() - (sinceMonday + 7) * DAY_MS;
  return Array.from({ length: count }, (_, at) => dateText(last - (skipped + at) * 7 * DAY_MS));
}

/** The last day of the week that begins on this Monday. */
export function sundayOf(monday: string): string {
  return dateText(new Date(`${monday}T00:00:00Z`).getTime() + 6 * DAY_MS);
}

function dateText(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
