/** What the webhook's state must do on every store: in a file, in memory, and on PostgreSQL. */
import { describe } from "bun:test";
import { describeStores } from "../support/state-stores.ts";
import { acceptTests, claimTests, commentTests, limitTests, repeatTests } from "./suite/accept.ts";
import { beginTests, digestibleTests, dueTests, finishTests } from "./suite/deliver.ts";
import { adoptTests, fallbackTests, noteTests } from "./suite/fallback.ts";
import { changeTests, processTests, readTests } from "./suite/operator.ts";

describeStores((tests) => {
  describe("accepting alerts", () => acceptTests(tests));
  describe("an alert and its repeats", () => repeatTests(tests));
  describe("the limits of the outbox", () => limitTests(tests));
  describe("the issue of a fingerprint", () => claimTests(tests));
  describe("a comment on an issue", () => commentTests(tests));
  describe("rows that are due", () => dueTests(tests));
  describe("one message may tell", () => digestibleTests(tests));
  describe("an attempt", () => beginTests(tests));
  describe("the end of an attempt", () => finishTests(tests));
  describe("the fallback channel", () => fallbackTests(tests));
  describe("the recovery note", () => noteTests(tests));
  describe("a state that takes over another", () => adoptTests(tests));
  describe("what is read", () => readTests(tests));
  describe("what an operator changes", () => changeTests(tests));
  if (tests.isShared) describe("two processes", () => processTests(tests));
});
