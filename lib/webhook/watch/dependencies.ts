import type { Log } from "../../platform/log/log.ts";
import type { EvolutionClient } from "../../providers/evolution/client.ts";
import type { FindInstance } from "../../providers/evolution/instance.ts";
import type { AskMessageStatus } from "../../providers/evolution/message-status.ts";
import type { Ping } from "../../providers/ping.ts";
import type { ResendClient } from "../../providers/resend/client.ts";
import type { Dispatcher } from "../delivery/dispatcher.ts";
import type { DispatcherParts, Source } from "../delivery/parts.ts";
import type { State } from "../store/outbox.ts";

/** The external services of the watch; null where one is not configured. */
export type WatchClients = {
  /** With a time limit of seconds: it answers from its memory. */
  gateway: Pick<EvolutionClient, "checkInstance">;
  findInstance: FindInstance;
  messageStatus: AskMessageStatus;
  email: { client: ResendClient; from: string; to: string } | null;
  ping: Ping | null;
};

/** What the watch works with. */
export type WatchDependencies = {
  /** The states whose rows the lanes send; `durable` is one of them. */
  sources: () => readonly Source[];
  durable: State;
  /** Called each time, so that a reload can replace them. */
  clients: () => WatchClients;
  dispatcher: Pick<Dispatcher, "isLeading" | "isLeaderKnown" | "pauses" | "pause" | "resume">;
  log: Log;
  nowMs: () => number;
  monotonicMs: () => number;
  sleep: DispatcherParts["sleep"];
};
