/** A line of a system crontab that starts a command. */
export type CronLine = { schedule: string; user: string; command: string };

const MACROS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/**
 * The lines of a system crontab that start something at a time; comments, variables and `@reboot` are left out.
 *
 * Source: crontab(5) of Debian's cron.
 */
export function cronLines(text: string): CronLine[] {
  return text.split("\n").flatMap((line) => {
    const [, fields, user, command] = /^\s*(@\w+|(?:\S+\s+){4}\S+)\s+(\S+)\s+(\S.*)$/.exec(line) ?? [];
    if (fields === undefined || user === undefined || command === undefined) return [];
    const schedule = MACROS[fields] ?? fields.replaceAll(/\s+/g, " ");
    return parse(schedule) === null ? [] : [{ schedule, user, command }];
  });
}

/** Whether two schedules of five fields mean the same times, however they are written. */
export function isSameSchedule(one: string, other: string): boolean {
  const [first, second] = [parse(one), parse(other)];
  return first !== null && second !== null && JSON.stringify(first) === JSON.stringify(second);
}

/** The longest time between two runs in minutes, for a schedule of every hour; null for any other one. */
export function longestPauseMinutes(schedule: string): number | null {
  const parsed = parse(schedule);
  const always = parse("* * * * *");
  if (
    parsed === null ||
    JSON.stringify({ ...parsed, minutes: [] }) !== JSON.stringify({ ...always, minutes: [] })
  )
    return null;
  const { minutes } = parsed;
  return Math.max(...minutes.map((minute, at) => (minutes[at + 1] ?? minutes[0]! + 60) - minute));
}

type Schedule = { minutes: number[]; hours: number[]; months: number[]; days: boolean[] };
type Field = { from: number; to: number; names?: readonly string[] };

const MONTHS = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The times that five fields mean; null where they are no schedule. */
function parse(schedule: string): Schedule | null {
  const [minute = "", hour = "", date = "", month = "", weekday = ""] = schedule.split(" ");
  const minutes = valuesOf(minute, { from: 0, to: 59 });
  const hours = valuesOf(hour, { from: 0, to: 23 });
  const dates = valuesOf(date, { from: 1, to: 31 });
  const months = valuesOf(month, { from: 1, to: 12, names: MONTHS });
  const weekdays = valuesOf(weekday, { from: 0, to: 7, names: WEEKDAYS });
  if (!minutes || !hours || !dates || !months || !weekdays) return null;
  // Sunday is 0 and 7. Of two fields that both restrict the day, either is enough.
  const isEither = !date.startsWith("*") && !weekday.startsWith("*");
  const days = Array.from({ length: 31 * 7 }, (_, at) => {
    const [isDate, isWeekday] = [
      dates.includes(1 + (at % 31)),
      weekdays.some((value) => value % 7 === Math.floor(at / 31)),
    ];
    return isEither ? isDate || isWeekday : isDate && isWeekday;
  });
  return { minutes, hours, months, days };
}

/** The values of a field, sorted: lists, ranges, steps and names; null where it is none. */
function valuesOf(text: string, { from, to, names = [] }: Field): number[] | null {
  const values = new Set<number>();
  const numberOf = (word: string) => (/^\d+$/.test(word) ? Number(word) : names.indexOf(word));
  for (const item of text.toLowerCase().split(",")) {
    const [, star, first = "", last, step] = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item) ?? [];
    if (star === undefined && (first === "" || (step !== undefined && last === undefined))) return null;
    const [low, high] = star === "*" ? [from, to] : [numberOf(first), numberOf(last ?? first)];
    const by = step === undefined ? 1 : Number(step);
    if (low < from || high > to || low > high || by === 0) return null;
    for (let value = low; value <= high; value += by) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
}
