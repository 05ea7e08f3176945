/**
 * Name of the weekly report's success heartbeat inside the log directory; its modification time is the time of the last
 * success.
 */
export const HEARTBEAT_FILE = "weekly_performance_reports.success";
