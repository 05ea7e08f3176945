import { expect, test } from "bun:test";
import { EmailTurns } from "../../../lib/webhook/second-channel/email-turns.ts";
import { sampleAlert } from "../support/sample-alert.ts";

type Email = { email: { id: string }; rows: number[] };

/** Plays sends that never get a clear answer; a new e-mail tells all that are in none. */
function play(waiting: () => number[], sends: number): string[] {
  const turns = new EmailTurns<Email>();
  const sent: string[] = [];
  let current: Email | null = null;
  for (let send = 0; send < sends; send += 1) {
    const unheard = waiting().map((row) => ({
      row,
      alert: sampleAlert(),
      status: "queued" as const,
      acceptedAtMs: 0,
      issueUrl: null,
    }));
    const { again, others } = turns.next(current, unheard);
    const rows = others.map(({ row }) => row);
    current = again ?? { email: { id: rows.join("+") }, rows };
    sent.push(current.email.id);
    turns.unclear(current);
  }
  return sent;
}

test("an e-mail is repeated while no other alert waits", () => {
  expect(play(() => [1, 2], 7)).toEqual(Array.from({ length: 7 }, () => "1+2"));
});

test("after three sends it gives way to alerts that are in none, and then all take turns", () => {
  let looks = 0;
  const waiting = () => {
    looks += 1;
    return looks < 2 ? [1] : looks < 5 ? [1, 2] : [1, 2, 3];
  };
  const sent = play(waiting, 15);
  expect(sent.slice(0, 9)).toEqual(["1", "1", "1", "2", "2", "2", "3", "3", "3"]);
  expect(sent.slice(9)).toEqual(["1", "2", "3", "1", "2", "3"]);
});

test("one whose alerts are all told is forgotten", () => {
  let looks = 0;
  const waiting = () => {
    looks += 1;
    return looks < 5 ? [1] : [2];
  };
  expect(play(waiting, 6)).toEqual(["1", "1", "1", "1", "2", "2"]);
});
