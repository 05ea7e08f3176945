/** Name of the metrics file inside the agent's text-file directory. */
export const METRICS_FILE = "custom_metrics.prom";

/** The agent's text-file directory where TEXTFILE_DIR is not set. */
export const DEFAULT_TEXTFILE_DIR = "/var/lib/node_exporter/textfile_collector";
