import { expect, test } from "bun:test";
import { UnclearEmails } from "../../../lib/webhook/second-channel/unclear-emails.ts";

const content = { subject: "", html: "", text: "" };
const email = (id: string, ...rows: number[]) => ({ email: { id, ...content }, rows });

test("UnclearEmails.due() gives the one that waits longest for its next send, so that all take turns", () => {
  const emails = new UnclearEmails();
  for (const [at, id] of ["a", "b", "c"].entries()) emails.add(email(id, at), at);
  const sent: string[] = [];
  for (let now = 10; now < 16; now += 1) {
    const due = emails.due(now)!;
    sent.push(due.email.id);
    emails.remove(due);
    emails.add(due, now);
  }
  expect(sent.join("")).toBe("abcabc");
  expect(new UnclearEmails().due(0)).toBeNull();
});

test("UnclearEmails.due() gives none before its time", () => {
  const emails = new UnclearEmails();
  emails.add(email("a", 1), 5);
  expect([emails.due(4), emails.due(5)?.email.id]).toEqual([null, "a"]);
});

test("UnclearEmails.forgetAllBut() forgets those whose alerts are all told", () => {
  const emails = new UnclearEmails();
  emails.add(email("a", 1, 2), 0);
  emails.add(email("b", 3), 0);
  expect([emails.tells(2), emails.tells(4)]).toEqual([true, false]);
  emails.forgetAllBut([2]);
  expect(emails.all.map(({ email: { id } }) => id)).toEqual(["a"]);
  expect([emails.tells(3), emails.remove(email("b", 3)), emails.remove(email("a", 1))]).toEqual([
    false,
    false,
    true,
  ]);
});
