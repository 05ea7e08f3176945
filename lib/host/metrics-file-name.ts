/** Name of the metrics file inside the agent's text-file directory. */
export const METRICS_FILE = "custom_metrics.prom";
