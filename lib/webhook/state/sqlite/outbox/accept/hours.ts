import type { DatabaseSync } from "node:sqlite";

const HOUR_MS = 3_600_000;

/** How many alerts were accepted in each hour. */
export type HourlyCount = {
  add(alerts: number, now: number): void;
  last(hours: number, now: number): number[];
  prune(keep: number, now: number): void;
};

/** Counts in the caller's transaction; an hour without requests has no row. */
export function hourlyCount(db: DatabaseSync): HourlyCount {
  const add = db.prepare(`
    insert into hours (hour, alerts) values (?, ?) on conflict (hour) do update set alerts = alerts + excluded.alerts`);
  const last = db.prepare("select hour, alerts from hours where hour > ?");
  const prune = db.prepare("delete from hours where hour <= ?");
  return {
    add: (alerts, now) => void add.run(Math.floor(now / HOUR_MS), alerts),
    last(hours, now) {
      const running = Math.floor(now / HOUR_MS);
      const counted = new Map(
        (last.all(running - hours) as { hour: number; alerts: number }[]).map(
          ({ hour, alerts }) => [hour, alerts] as const,
        ),
      );
      return Array.from({ length: hours }, (_, at) => counted.get(running - hours + 1 + at) ?? 0);
    },
    prune: (keep, now) => void prune.run(Math.floor(now / HOUR_MS) - keep),
  };
}
