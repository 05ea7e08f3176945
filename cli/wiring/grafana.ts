import type { GrafanaConfig } from "../../lib/alert-rules/config.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { type GrafanaClient, grafanaClient } from "../../lib/providers/grafana/client.ts";
import { callLog } from "./call-log.ts";

/** A client of Grafana that logs its calls. */
export function openGrafana({ url, token }: GrafanaConfig, log: Log): GrafanaClient {
  return grafanaClient({ baseUrl: new URL(url), token, onCall: callLog(log) });
}
