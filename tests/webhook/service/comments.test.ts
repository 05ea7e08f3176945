/** What the tracker hears when alerts resolve. */
import { afterEach, describe, expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { alertOf, type Service, startService } from "../support/service-fixture.ts";

let service: Service;
afterEach(async () => await service.stop());

const fires = (fingerprint: string, startsAt = "2026-11-21T12:00:00Z") =>
  service.post({ alerts: [alertOf({ fingerprint, startsAt })] });
const resolves = (fingerprint: string, endsAt = "2026-11-21T12:42:00Z") =>
  service.post({ alerts: [alertOf({ fingerprint, status: "resolved", endsAt })] });

async function settled(): Promise<void> {
  await until("nothing waits", async () => {
    service.pass(2_000);
    const { message, issue, comment } = await service.state.stats();
    return message.queued + issue.queued + comment.queued === 0;
  });
}

describe("with comments", () => {
  test("an issue gets one for each end of its alert, and none for a firing", async () => {
    service = await startService({ comments: true });
    await fires("abc");
    await resolves("abc");
    await settled();
    expect(service.tracker.comments).toMatchObject([
      { issueId: service.tracker.issues[0]!.id, body: expect.stringContaining("depois de 42 min") },
    ]);
    await resolves("abc");
    await fires("abc", "2026-11-21T12:50:00Z");
    await settled();
    expect(service.tracker.comments).toHaveLength(1);
    await resolves("abc", "2026-11-21T12:55:00Z");
    await settled();
    expect(service.tracker.comments).toHaveLength(2);
    expect(service.tracker.issues).toHaveLength(1);
    expect(service.tracker.unexpected).toEqual([]);
  });

  test("one is made once, when the answer is lost and the service restarts", async () => {
    service = await startService({ comments: true });
    await fires("abc");
    await settled();
    service.tracker.routes.graphql.script = ({ rawBody }) =>
      rawBody.includes("commentCreate") ? { accept: "drop" } : undefined;
    await resolves("abc");
    await until("the comment was made", async () => service.tracker.comments.length > 0);
    service.tracker.routes.graphql.script = null;
    await service.restart();
    await settled();
    expect(service.tracker.comments).toHaveLength(1);
    expect((await service.state.latest("abc")).comment).toMatchObject({ status: "delivered" });
  });

  test("that of an issue that somebody deleted is given up alone", async () => {
    service = await startService({ comments: true });
    await fires("abc");
    await fires("xyz");
    await settled();
    service.tracker.issues.splice(0, 1);
    await resolves("abc");
    await resolves("xyz");
    await settled();
    expect((await service.state.latest("abc")).comment).toMatchObject({
      status: "dead",
      code: "tracker_input_refused",
      attempts: 1,
    });
    expect(service.tracker.comments).toHaveLength(1);
    expect((await service.state.stats()).issue.dead).toBe(0);
  });

  test("one waits for its issue", async () => {
    service = await startService({ comments: true, isHasty: true });
    service.tracker.routes.graphql.script = () => "drop_unread";
    await fires("abc");
    await resolves("abc");
    service.tracker.routes.graphql.script = null;
    await settled();
    expect(service.tracker.comments).toMatchObject([{ issueId: service.tracker.issues[0]!.id }]);
  });
});

test("without comments the tracker hears of firing alerts alone", async () => {
  service = await startService();
  await fires("abc");
  await resolves("abc");
  await settled();
  expect([service.tracker.issues.length, service.tracker.comments.length]).toEqual([1, 0]);
});
