import type { EvolutionClient } from "../../providers/evolution/client.ts";
import type { FindInstance } from "../../providers/evolution/instance.ts";
import type { AskMessageStatus } from "../../providers/evolution/message-status.ts";
import type { Ping } from "../../providers/ping.ts";
import type { ResendClient } from "../../providers/resend/client.ts";
import type { Dispatcher } from "../delivery/dispatcher.ts";
import type { DispatcherParts } from "../delivery/parts.ts";

/** The external services of the watch; null where one is not configured. */
export type WatchClients = {
  /** With a time limit of seconds: it answers from its memory. */
  gateway: Pick<EvolutionClient, "checkInstance">;
  findInstance: FindInstance;
  messageStatus: AskMessageStatus;
  email: { client: ResendClient; from: string; to: string } | null;
  ping: Ping | null;
};

/** What the watch works with; `clients` is called each time, so that a reload can replace them. */
export type WatchDependencies = Pick<
  DispatcherParts,
  "sources" | "durable" | "log" | "nowMs" | "monotonicMs" | "sleep"
> & {
  clients: () => WatchClients;
  dispatcher: Pick<Dispatcher, "isLeading" | "isLeaderKnown" | "pauses" | "pause" | "resume">;
};
