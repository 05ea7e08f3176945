/** Name of the success heartbeat inside the log directory; its modification time is the time of the last success. */
export const HEARTBEAT_FILE = "weekly_performance_reports.success";

/** Name of the weekly run's last-run file inside the log directory. */
export const LAST_RUN_FILE = "weekly_performance_reports.last.json";

/** How large the file may be; a larger one is not read. */
export const LAST_RUN_MAX_BYTES = 65_536;
