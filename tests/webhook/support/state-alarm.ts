/** The suite's parts about what the alarm needs of its state beyond delivering. */
import { afterEach, beforeEach, describe } from "bun:test";
import { commentTests } from "./state-comments.ts";
import { digestTests } from "./state-digests.ts";
import type { OpenStateFixture, StateFixture } from "./state-fixture.ts";
import { pageTests } from "./state-page.ts";
import { secondChannelTests } from "./state-second-channel.ts";

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
