/** The suite's parts about what the alarm needs of its state beyond delivering. */
import { afterEach, beforeEach, describe } from "bun:test";
import type { OpenStateFixture, StateFixture } from "../../support/state-fixture.ts";
import { commentTests } from "./comments.ts";
import { digestTests } from "./digests.ts";
import { pageTests } from "./page.ts";
import { secondChannelTests } from "./second-channel.ts";

/** Registers them for one store. */
export function alarmSuite(name: string, open: OpenStateFixture): void {
  describe(name, () => {
    let fixture: StateFixture;
    beforeEach(async () => {
      fixture = await open({ comments: true });
    });
    afterEach(() => fixture.close());
    digestTests(() => fixture);
    commentTests(() => fixture);
    secondChannelTests(() => fixture);
    pageTests(() => fixture);
  });
}
