import { expect, test } from "bun:test";
import { Leadership } from "../../../lib/webhook/delivery/leadership.ts";

let nowMs = 0;
const said = (...leads: (boolean | null)[]) => {
  nowMs = 0;
  const role = new Leadership(() => nowMs);
  for (const one of leads) role.learn(one);
  return role;
};
const after = (role: Leadership, ms: number) => {
  nowMs += ms;
  return [role.isLeading, role.isTelling];
};

test("Leadership: the one that leads tells, and none that knows of another one", () => {
  expect(after(said(), 60_000)).toEqual([false, false]);
  expect(after(said(true), 60_000)).toEqual([true, true]);
  expect(after(said(true, false), 60_000)).toEqual([false, false]);
  expect(after(said(true, null, false), 60_000)).toEqual([false, false]);
});

test("Leadership: while no one can say who leads the last one tells, and after 30 seconds each one", () => {
  expect(after(said(true, null, null), 0)).toEqual([false, true]);
  expect(after(said(null), 29_999)).toEqual([false, false]);
  const other = said(true, false, null);
  expect(after(other, 29_999)).toEqual([false, false]);
  other.learn(null);
  expect(after(other, 1)).toEqual([false, true]);
  other.learn(true);
  expect(after(other, 0)).toEqual([true, true]);
});
