/** Name of the weekly report's success heartbeat inside the log directory; its modification time is what counts. */
export const HEARTBEAT_FILE = "weekly_performance_reports.success";
