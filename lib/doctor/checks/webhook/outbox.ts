import { join } from "node:path";
import { queueResults } from "../../../health/webhook.ts";
import type { StateConfig } from "../../../webhook/config.ts";
import { readServiceHealth } from "../../../webhook/http/service-health.ts";
import { stats } from "../../../webhook/state/postgres/reads.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { type FileReading, readStateFile } from "../../facts/outbox.ts";
import { stateDatabase } from "../../facts/state-database.ts";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../../finding.ts";

/** Why a running service is not asked. */
export const ADMIN_PORT_OFF = "the admin port is off (WEBHOOK_ADMIN_PORT), so the service is not asked";

/** What waits in the outbox and what was given up, from the running service, else from the state itself. */
export async function outboxResults(
  context: CheckContext,
  state: StateConfig,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const { adminPort } = await context.webhookPorts();
  const { callLimitMs: limitMs } = context.dependencies;
  const health = await readServiceHealth({ adminPort, limitMs }, signal);
  if (health?.outbox) return queueResults(health.outbox);
  if ("url" in state) {
    const { sql } = await stateDatabase(context, state.url);
    const [row] = await sql<[{ exists: boolean }]>`
      select to_regclass('opsctl_state.outbox') is not null as exists`;
    if (!row.exists)
      return [
        warn("STATE_MISSING", "the shared database has no state yet: the service makes it at its start"),
      ];
    return queueResults(await stats(sql));
  }
  const path = join(state.directory, "state.db");
  const reading = readStateFile(path, Date.now);
  // A service whose admin port is off has the file open while it runs, and no other way to be asked.
  if (adminPort === 0 && reading.status === "in_use") return [pass(ADMIN_PORT_OFF)];
  return fileResults(path, reading);
}

function fileResults(path: string, reading: FileReading): CheckResult[] {
  switch (reading.status) {
    case "read":
      return [pass(`${path} can be read`), ...queueResults(reading.outbox)];
    case "missing":
      return [warn("STATE_MISSING", `${path} does not exist yet: the service makes it at its start`, null)];
    case "empty":
      return [
        fail(
          "STATE_EMPTY",
          `${path} is empty: the service could not write to it when it started`,
          "Make room on its disk (df -h): then the service opens it again",
        ),
      ];
    case "in_use":
      return [
        notChecked(
          "STATE_IN_USE",
          `${path} has a write-ahead log, which cannot be read without writing beside it`,
          command(
            "systemctl start opsctl-webhook.service",
            "Start the service, then look again: it is asked instead",
          ),
        ),
      ];
    case "untrusted":
      return [fail("FILE_UNTRUSTED", reading.message, reading.hint)];
    case "damaged":
      return [
        fail(
          "STATE_UNREADABLE",
          `${path} cannot be read: ${reading.message}`,
          "Restart the service: it moves a damaged file aside and carries over what is readable",
        ),
      ];
  }
}
