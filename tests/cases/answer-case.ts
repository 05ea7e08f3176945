/** What the tables of answers have in common: a row, and how a service is made to give the row's answer. */
import { refusedPort } from "../standins/raw-peer.ts";
import type { Scripted } from "../standins/standin.ts";

/** An answer of a stand-in, or no service at all at its address. */
export type PeerAnswer = Scripted | "nobody_listens";

/** Who plays a row besides the client's test: the weekly run in process, the alert service, the binary, doctor. */
export type Level = "run" | "webhook" | "e2e" | "doctor";

/** One answer of an external service; `becomes` is what the client returns, `levels` play it as well. */
export type AnswerCase<Outcome> = { name: string; answer: PeerAnswer; becomes: Outcome; levels: Level[] };

/** One row of a table as it is written. */
export type Row<Outcome> = [name: string, answer: PeerAnswer, becomes: Outcome, ...levels: Level[]];

/** The rows of a table. */
export function cases<Outcome>(rows: Row<Outcome>[]): AnswerCase<Outcome>[] {
  return rows.map(([name, answer, becomes, ...levels]) => ({ name, answer, becomes, levels }));
}

/** The rows that a level plays: one for each outcome that it tells apart. Throws when there is none. */
export function playedBy<Outcome>(level: Level, table: AnswerCase<Outcome>[]): AnswerCase<Outcome>[] {
  const rows = table.filter(({ levels }) => levels.includes(level));
  if (rows.length === 0) throw new Error(`No row of this table is for ${level}`);
  return rows;
}

/** A page, as a proxy or a login form before the service gives it. */
export const page = (status: number) => ({
  status,
  text: "<html><body>Welcome</body></html>",
  headers: { "content-type": "text/html" },
});

/** Whether the service never ends this answer, so that only a time limit of the caller does. */
export function isEndless(answer: PeerAnswer): boolean {
  const given = typeof answer === "object" && "accept" in answer ? answer.accept : answer;
  return given === "hang" || given === "stall_body";
}

/** The time limit for a call that gets this answer: a short one only where nothing else ends the call. */
export function limitMsFor(answer: PeerAnswer): number {
  return isEndless(answer) ? 500 : 60_000;
}

/** Orders the answer for the route's next call; returns the address at which the service is to be called. */
export async function play(
  peer: { url: string },
  route: { next(answer: Scripted): void },
  answer: PeerAnswer,
): Promise<string> {
  if (answer === "nobody_listens") return `http://127.0.0.1:${await refusedPort()}`;
  route.next(answer);
  return peer.url;
}
