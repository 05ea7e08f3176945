const UNITS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
const YEAR_MS = 365 * UNITS.d;
const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * A duration as Prometheus writes it (`90s`, `1m30s`, `1d`), in milliseconds; null for any other text.
 *
 * Shape:  units from the longest to the shortest, each at most once; or `0`.
 * Source: prometheus/common model/time.go, ParseDuration.
 */
export function parseDurationMs(text: string): number | null {
  if (text === "0") return 0;
  const match = text === "" ? null : DURATION.exec(text);
  if (match === null) return null;
  const [years, ...rest] = match.slice(1).map((digits) => Number(digits ?? 0));
  return Object.values(UNITS).reduce(
    (sum, unitMs, index) => sum + unitMs * (rest[index] ?? 0),
    YEAR_MS * (years ?? 0),
  );
}

/** Milliseconds as a duration that Grafana accepts and people read: `10m`, `1m30s`, `0s`. */
export function renderDuration(ms: number): string {
  const parts: string[] = [];
  let left = ms;
  for (const unit of ["d", "h", "m", "s", "ms"] as const) {
    const count = Math.floor(left / UNITS[unit]);
    if (count > 0) parts.push(`${count}${unit}`);
    left -= count * UNITS[unit];
  }
  return parts.join("") || "0s";
}
