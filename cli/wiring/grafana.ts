import process from "node:process";
import type { PlatformConfig } from "../../lib/alert-rules/config.ts";
import { keepLoopbackOffProxies } from "../../lib/platform/http/proxy.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { type GrafanaClient, grafanaClient } from "../../lib/providers/grafana/client.ts";

/** A client of the metrics platform that logs its calls. */
export function openGrafana({ url, token }: PlatformConfig, log: Log): GrafanaClient {
  keepLoopbackOffProxies(process.env);
  return grafanaClient({
    baseUrl: new URL(url),
    token,
    onCall: (record) => log.debug("A peer was called", record),
  });
}
