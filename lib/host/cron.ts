/** A line of a system crontab that starts a command. */
export type CronLine = { schedule: string; user: string; command: string };

/**
 * The lines of a system crontab that start something at a time; comments, variables, `@reboot` and its like are left out.
 *
 * Source: crontab(5) of Debian's cron.
 */
export function cronLines(text: string): CronLine[] {
  return text.split("\n").flatMap((line) => {
    const [, fields, user, command] = /^\s*((?:\S+\s+){4}\S+)\s+(\S+)\s+(\S.*)$/.exec(line) ?? [];
    if (fields === undefined || user === undefined || command === undefined) return [];
    const schedule = fields.replaceAll(/\s+/g, " ");
    return timesOf(schedule) === null ? [] : [{ schedule, user, command }];
  });
}

/** Whether two schedules of five fields mean the same times, however they are written. */
export function isSameSchedule(one: string, other: string): boolean {
  const [first, second] = [timesOf(one), timesOf(other)];
  return first !== null && JSON.stringify(first) === JSON.stringify(second);
}

/** The longest time between two runs in minutes, for a schedule of every hour; null for any other one. */
export function longestPauseMinutes(schedule: string): number | null {
  const [minutes = [], ...others] = timesOf(schedule) ?? [];
  if (JSON.stringify(others) !== JSON.stringify(timesOf("* * * * *")?.slice(1))) return null;
  return Math.max(...minutes.map((minute, at) => (minutes[at + 1] ?? minutes[0]! + 60) - minute));
}

type Field = { from: number; to: number; names?: readonly string[] };

const FIELDS: readonly Field[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: " jan feb mar apr may jun jul aug sep oct nov dec".split(" ") },
  // Sunday is 0 and 7.
  { from: 0, to: 7, names: "sun mon tue wed thu fri sat".split(" ") },
];

/** The values of the five fields, and whether weekdays restrict the dates; null for what is no schedule. */
function timesOf(schedule: string): number[][] | null {
  const words = schedule.split(" ");
  const times = FIELDS.map((field, at) => valuesOf(words[at] ?? "", field)).filter(
    (values) => values !== null,
  );
  // Of a date and a weekday that are both restricted, either is enough.
  return times.length < FIELDS.length ? null : [...times, [words[2]?.startsWith("*") ? 1 : 0]];
}

/** The values of a field, sorted: lists, ranges, steps and names; null where it is none. */
function valuesOf(text: string, { from, to, names = [] }: Field): number[] | null {
  const values = new Set<number>();
  const numberOf = (word: string) => (/^\d+$/.test(word) ? Number(word) : names.indexOf(word));
  for (const item of text.toLowerCase().split(",")) {
    const [, star, first = "", last, step] = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item) ?? [];
    if (star === undefined && (first === "" || (step !== undefined && last === undefined))) return null;
    const [low, high] = star === "*" ? [from, to] : [numberOf(first), numberOf(last ?? first)];
    const by = Number(step ?? 1);
    if (low < from || high > to || low > high || by === 0) return null;
    for (let value = low; value <= high; value += by) values.add(to === 7 ? value % 7 : value);
  }
  return [...values].sort((one, other) => one - other);
}
