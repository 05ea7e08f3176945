/** How long ago something was, for people; a clock that is a little ahead counts as now. */
export function ageText(ageMs: number): string {
  return `${shortTime(ageMs)} ago`;
}

/** How long something has lasted, for people: `12 s`, `3 min`, `5 h`, `2 days`. */
export function shortTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
