import { isListening } from "../../host/tcp-port.ts";
import { LONG_WAIT_MS, readServiceHealth, type ServiceHealth } from "../../webhook/http/service-health.ts";
import { webhookPorts } from "../../webhook/ports.ts";
import { type KindStats, OUTBOX_KINDS } from "../../webhook/state/contract.ts";
import { shortTime } from "../age-text.ts";
import type { StatusDependencies } from "../dependencies.ts";
import { attention, late, NOT_SET_UP, ok, type PartReport } from "../part.ts";
import { isMeantToWork, settingsOf, unreadable } from "../part-settings.ts";
import { readInTime } from "../reading.ts";

const command = "webhook";
const DOCTOR = `sudo opsctl doctor ${command}`;
const JOURNAL = "journalctl -u opsctl-webhook -n 50";

/** Whether the webhook runs, what waits, and what was given up: asked of the running service, which any account may. */
export async function webhookStatus(dependencies: StatusDependencies): Promise<PartReport> {
  const { limitMs } = dependencies;
  const settings = settingsOf(command, dependencies);
  // Who may not read them finds the installed ports.
  const { port, adminPort } = await webhookPorts(
    settings.status === "read" ? settings.env : dependencies.env,
  );
  // The limit of the call is the later one, also while this process waits for a processor, so that a port that hangs is
  // told from one where nothing listens.
  const asked = await readInTime(dependencies, (signal) =>
    readServiceHealth({ adminPort, limitMs: 6 * limitMs }, signal),
  );
  if (asked.status === "late") return late(JOURNAL);
  if (asked.status === "read" && asked.value !== null) return judgeHealth(asked.value);
  if (settings.status === "failed")
    return unreadable("it does not run, and its settings", settings.code, dependencies.viewer, command);
  if (!isMeantToWork(command, settings.env)) return NOT_SET_UP;
  if (adminPort === 0 && (await isListening(port, dependencies.procNet)) !== false)
    return ok([`port ${port} is open; its admin port is off, so the service is not asked`], { adminPort });
  // Stopped, or started over and over with settings that it refuses: doctor tells which.
  return attention(["does not run"], DOCTOR);
}

/** The report over what the service says of itself. */
export function judgeHealth(health: ServiceHealth): PartReport {
  const facts = factsOf(health);
  const lines = [
    [upText(health), ...waitingText(facts), gatewayText(health)].join("; "),
    ...facts.holds.map(({ kind, code }) => `holds its ${kind}s: ${code}`),
    ...refusalText(health),
  ];
  const next = nextOf(health, facts);
  return next === null ? ok(lines, facts) : attention(lines, next, facts);
}

/** What waits and what was given up, over all kinds; null where the service could not count it. */
type Counts = { queued: number; oldestSeconds: number | null; givenUp: number; inDoubt: number };

type Facts = Pick<ServiceHealth, "isReady" | "isLeading" | "gatewayOpen" | "pendingMessages"> & {
  outbox: Counts | null;
  holds: { kind: string; code: string }[];
};

function factsOf({ outbox, holds, secretRefusedAt: _, ...health }: ServiceHealth): Facts {
  return {
    ...health,
    outbox: outbox === null ? null : countsOf(OUTBOX_KINDS.map((kind) => outbox[kind])),
    holds: OUTBOX_KINDS.flatMap((kind) => {
      const code = holds[kind];
      return code === null ? [] : [{ kind, code }];
    }),
  };
}

function countsOf(kinds: readonly KindStats[]): Counts {
  const sum = (key: "queued" | "dead" | "inDoubt") => kinds.reduce((total, kind) => total + kind[key], 0);
  const ages = kinds.map(({ oldestQueuedAgeMs }) => oldestQueuedAgeMs).filter((age) => age !== null);
  return {
    queued: sum("queued"),
    oldestSeconds: ages.length === 0 ? null : Math.round(Math.max(...ages) / 1000),
    givenUp: sum("dead"),
    inDoubt: sum("inDoubt"),
  };
}

function waitingText({ outbox }: Facts): string[] {
  if (outbox === null) return ["what waits is not known"];
  const { queued, oldestSeconds, givenUp, inDoubt } = outbox;
  const oldest = oldestSeconds === null ? "" : `, the oldest for ${shortTime(oldestSeconds * 1000)}`;
  return [
    queued === 0 ? "nothing waits" : `${queued} wait${oldest}`,
    `${givenUp} given up${inDoubt === 0 ? "" : `, ${inDoubt} in doubt`}`,
  ];
}

function upText({ isReady, isLeading }: ServiceHealth): string {
  if (!isReady) return "runs and cannot accept alerts";
  return isLeading ? "up" : "up, another host delivers";
}

function gatewayText({ gatewayOpen, pendingMessages }: ServiceHealth): string {
  if (gatewayOpen === false) return "gateway disconnected";
  if (pendingMessages !== null && pendingMessages > 0)
    return `gateway holds ${pendingMessages} messages that WhatsApp has not acknowledged`;
  return gatewayOpen === null ? "gateway not known" : "gateway connected";
}

/** Told, and no fault by itself: a stranger's post looks the same as one of a platform that has another secret. */
function refusalText({ secretRefusedAt }: ServiceHealth): string[] {
  return secretRefusedAt === null
    ? []
    : [`refused the last post from elsewhere for its secret, at ${secretRefusedAt}: ${DOCTOR}`];
}

/** What hinders everything comes first. */
function nextOf(
  { gatewayOpen, pendingMessages }: ServiceHealth,
  { isReady, outbox, holds }: Facts,
): string | null {
  if (!isReady || outbox === null) return JOURNAL;
  if (holds.length > 0 || gatewayOpen === false || (pendingMessages ?? 0) > 0) return DOCTOR;
  if (outbox.givenUp + outbox.inDoubt > 0) return "sudo opsctl webhook dead list";
  return (outbox.oldestSeconds ?? 0) * 1000 > LONG_WAIT_MS ? "sudo opsctl webhook queue list" : null;
}
