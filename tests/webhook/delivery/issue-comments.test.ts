/** Comments on an issue when its alert ends, with ISSUE_TRACKER_COMMENTS=1. */
import { expect, test } from "bun:test";
import { alertOf, onBothStores, type Service, type Store, startService } from "../support/start-service.ts";

const FIRED = "2026-11-16T12:00:00Z";
const ENDED = "2026-11-16T12:42:00Z";

const withComments = (store: Store) => startService({ store, comments: true });

async function fires(service: Service, name = "abc", startsAt = FIRED): Promise<void> {
  await service.post([alertOf(name, { startsAt })]);
  await service.advance(2_000);
}

async function resolves(service: Service, name = "abc", endsAt = ENDED): Promise<void> {
  await service.post([alertOf(name, { startsAt: FIRED, status: "resolved", endsAt })]);
  await service.advance(2_000);
}

onBothStores("an issue gets one comment for each end of its alert, and none for a firing", async (store) => {
  await using service = await withComments(store);
  await fires(service);
  expect(service.tracker.comments).toEqual([]);
  await resolves(service);
  const [issue] = service.tracker.issues;
  const body = expect.stringContaining("depois de 42 min");
  expect(service.tracker.comments).toMatchObject([{ issueId: issue!.id, body }]);
  // Posted again, however it is written; then the next end.
  await resolves(service, "abc", "2026-11-16T09:42:00-03:00");
  await fires(service, "abc", "2026-11-16T12:50:00Z");
  expect(service.tracker.comments).toHaveLength(1);
  await resolves(service, "abc", "2026-11-16T12:55:00Z");
  expect([service.tracker.comments.length, service.tracker.issues.length]).toEqual([2, 1]);
  expect(service.tracker.unexpected).toEqual([]);
});

test("the id of a comment is that of its issue and end in every version", async () => {
  await using service = await withComments("sqlite");
  await fires(service);
  await resolves(service);
  expect(service.tracker.comments[0]!.id).toBe("653f7654-692b-403a-8c6f-8906f1a3c540");
});

onBothStores("a comment whose answer is lost is made once, over a kill", async (store) => {
  await using service = await withComments(store);
  await fires(service);
  service.tracker.routes.graphql.scriptByBody = ({ rawBody }) =>
    rawBody.includes("commentCreate") ? { accept: "drop" } : undefined;
  await resolves(service);
  expect(service.tracker.comments).toHaveLength(1);
  service.tracker.routes.graphql.scriptByBody = null;
  await service.kill();
  await service.restart();
  await service.advance(60_000, 5_000);
  expect(service.tracker.comments).toHaveLength(1);
  expect((await service.health()).comment).toMatchObject({ queued: 0, dead: 0 });
});

onBothStores("the comment of an issue that somebody deleted is dead, and no other", async (store) => {
  await using service = await withComments(store);
  await fires(service, "abc");
  await fires(service, "xyz");
  service.tracker.issues.splice(0, 1);
  await resolves(service, "abc");
  await resolves(service, "xyz");
  const { comment, issue } = await service.health();
  expect([comment, issue]).toMatchObject([{ queued: 0, dead: 1 }, { dead: 0 }]);
  expect(await service.operator.dead()).toMatchObject([
    { kind: "comment", fingerprint: "abc", code: "tracker_input_refused", attempts: 1 },
  ]);
  expect(service.tracker.comments).toMatchObject([{ issueId: service.tracker.issues[0]!.id }]);
});

onBothStores("a comment waits for its issue, and goes while messages are paused", async (store) => {
  await using service = await withComments(store);
  service.gateway.instances.set("ops", "close");
  service.tracker.routes.graphql.script = () => "drop_unread";
  await fires(service);
  await resolves(service);
  expect(service.tracker.comments).toEqual([]);
  service.tracker.routes.graphql.script = null;
  await service.advance(60_000, 5_000);
  expect(service.tracker.comments).toMatchObject([{ issueId: service.tracker.issues[0]!.id }]);
  expect(service.messages).toEqual([]);
});

onBothStores("a comment waits for as long as the tracker asks", async (store) => {
  await using service = await withComments(store);
  await fires(service);
  service.tracker.rateLimit = { "retry-after": "90" };
  await resolves(service);
  service.tracker.rateLimit = null;
  await service.advance(86_000, 10_000);
  expect(service.tracker.comments).toEqual([]);
  await service.advance(5_000);
  expect(service.tracker.comments).toHaveLength(1);
});

onBothStores("without comments the tracker hears of firing alerts alone", async (store) => {
  await using service = await startService({ store });
  await fires(service);
  await resolves(service);
  expect([service.tracker.issues.length, service.tracker.comments.length]).toEqual([1, 0]);
});
