import { alertnameOf } from "../alert/name.ts";
import type { AcceptedAlert, AttemptEnd } from "../store/model.ts";
import type { State } from "../store/outbox.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** What the answer to a post says of one accepted alert; a public shape. */
export type AlertAnswer = {
  alertname: string | null;
  status: string | null;
  squad: string;
  fingerprint: string;
  whatsapp: "sent" | "queued";
  issue: "created" | "duplicate" | "queued" | "refused" | "not_firing";
  issueId?: string;
  /** False for an alert that is not on disk; else absent. */
  durable?: false;
};

/**
 * An accepted alert, the state that its rows are in, and what is known of them.
 *
 * Shape: `message` and `issue` are how the latest attempt ended; null before the first end. `isDurable` turns true when
 *        the durable state takes over what was accepted in memory; `settled` resolves then, and when nothing more is
 *        expected of the message.
 */
export type Placed = {
  readonly state: State;
  readonly accepted: AcceptedAlert;
  isDurable: boolean;
  readonly settled: Promise<void>;
  message: AttemptEnd | null;
  issue: AttemptEnd | null;
};

/** What delivers rows. */
export type Deliveries = Pick<Dispatcher, "look" | "inFlight">;

/** An alert that a state has just accepted. */
export function placedIn(state: State, accepted: AcceptedAlert): Placed {
  return { state, accepted, isDurable: true, settled: Promise.resolve(), message: null, issue: null };
}

/**
 * Waits while a row of a post is in flight, then returns the answer for each of its alerts.
 *
 * Behaviour: a row that starts when another one ends counts too, such as the issue behind its message. Ends when `late`
 *            resolves, whatever the dispatcher does; `looked` resolves when what could start at once has started.
 */
export async function answersOf(
  post: readonly Placed[],
  deliveries: Deliveries,
  { looked, late }: { looked: Promise<void>; late: Promise<void> },
): Promise<AlertAnswer[]> {
  let isLate = false;
  const end = late.then(() => {
    isLate = true;
  });
  await Promise.race([looked, end]);
  while (!isLate) {
    const flights = post.flatMap((placed) => flightsOf(placed, deliveries));
    if (flights.length === 0) break;
    await Promise.race([...flights, end]);
    if (!isLate) await Promise.race([deliveries.look(), end]);
  }
  return post.map(answerOf);
}

/** The rows of an alert in flight; what becomes known is noted. */
function flightsOf(placed: Placed, deliveries: Deliveries): Promise<void>[] {
  const { messageRow, issue } = placed.accepted;
  const rows = { message: messageRow, issue: issue.status === "first" ? issue.row : -1 };
  return (["message", "issue"] as const).flatMap((kind) => {
    const ending = deliveries.inFlight(placed.state, rows[kind]);
    const note = (ended: AttemptEnd | null) => {
      placed[kind] = ended ?? placed[kind];
    };
    return ending?.then(note) ?? [];
  });
}

function answerOf({ accepted: { alert, issue }, message, issue: ended, isDurable }: Placed): AlertAnswer {
  const { labels, status, squad, fingerprint } = alert;
  const answer: AlertAnswer = {
    ...{ alertname: alertnameOf(labels), status, squad, fingerprint },
    whatsapp: message?.status === "delivered" ? "sent" : "queued",
    issue: issue.status === "first" ? "queued" : issue.status,
  };
  if (!isDurable) answer.durable = false;
  if (issue.status === "first" && ended?.status === "dead") answer.issue = "refused";
  if (issue.status === "first" && ended?.status === "delivered") answer.issue = "created";
  if (issue.status !== "not_firing" && ["created", "duplicate"].includes(answer.issue))
    answer.issueId = issue.issueId;
  return answer;
}
