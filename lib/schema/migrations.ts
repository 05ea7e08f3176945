import clock from "../../sql/0001_weekly_performance_clock.sql" with { type: "text" };
import reports from "../../sql/0002_weekly_performance_reports.sql" with { type: "text" };
import deliveries from "../../sql/0003_weekly_performance_deliveries.sql" with { type: "text" };
import reconciliations from "../../sql/0004_weekly_performance_reconciliations.sql" with { type: "text" };
import privileges from "../../sql/0005_weekly_performance_privileges.sql" with { type: "text" };
import unattended from "../../sql/0006_weekly_performance_unattended.sql" with { type: "text" };
import erasure from "../../sql/0007_weekly_performance_erasure.sql" with { type: "text" };
import history from "../../sql/0008_weekly_performance_history.sql" with { type: "text" };

/** One numbered SQL file of `sql/`, carried in the binary. */
export type Migration = { version: number; name: string; sql: string };

/** Every migration in the order of its number; a released file is never edited, a change is a new file. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "0001_weekly_performance_clock", sql: clock },
  { version: 2, name: "0002_weekly_performance_reports", sql: reports },
  { version: 3, name: "0003_weekly_performance_deliveries", sql: deliveries },
  { version: 4, name: "0004_weekly_performance_reconciliations", sql: reconciliations },
  { version: 5, name: "0005_weekly_performance_privileges", sql: privileges },
  { version: 6, name: "0006_weekly_performance_unattended", sql: unattended },
  { version: 7, name: "0007_weekly_performance_erasure", sql: erasure },
  { version: 8, name: "0008_weekly_performance_history", sql: history },
];
