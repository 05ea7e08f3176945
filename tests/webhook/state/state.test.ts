/** What the webhook's state must do on every store: each part of the suite, on a file and on PostgreSQL. */
import { afterEach, beforeEach, describe } from "bun:test";
import type { StateFixture } from "../support/state-fixture.ts";
import { describeStores } from "../support/state-stores.ts";
import { acceptTests, limitTests } from "./suite/accept.ts";
import { attemptTests } from "./suite/attempts.ts";
import { commentTests } from "./suite/comments.ts";
import { deliveryTests } from "./suite/delivery.ts";
import { digestTests } from "./suite/digests.ts";
import { issueTests } from "./suite/issues.ts";
import { operatorTests } from "./suite/operator.ts";
import { pageTests } from "./suite/page.ts";
import { processTests } from "./suite/processes.ts";
import { secondChannelTests } from "./suite/second-channel.ts";

describeStores((open) => {
  let fixture: StateFixture;
  const current = () => fixture;
  beforeEach(async () => {
    fixture = await open({ comments: true });
  });
  afterEach(() => fixture.close());

  describe("accepting alerts", () => acceptTests(current));
  describe("the issue of a fingerprint", () => issueTests(current));
  describe("delivery", () => deliveryTests(current));
  describe("an attempt", () => attemptTests(current));
  describe("a message that combines several alerts", () => digestTests(current));
  describe("a comment on an issue", () => commentTests(current));
  describe("what an operator sees and changes", () => operatorTests(current));
  describe("the second channel", () => secondChannelTests(current));
  describe("the status page", () => pageTests(current));
  describe("two processes", () => processTests(current));
});

describeStores((open) => {
  describe("the limits of the outbox", () => limitTests(open));
});
