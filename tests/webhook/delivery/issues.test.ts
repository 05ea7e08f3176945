/** Which firing alerts become issues, how often, and what becomes of an issue while the tracker is in trouble. */
import { describe, expect, test } from "bun:test";
import { isEndless, playedBy } from "../../cases/answer-case.ts";
import { REFUSED_ISSUES, UNCLEAR_ISSUES } from "../../cases/tracker-answers.ts";
import { alertOf, MINUTE_MS, onBothStores, type Service, startService } from "../support/start-service.ts";

const fire = async (service: Service) => (await service.post([alertOf("abc")])).body.alerts[0]!;
const issues = (service: Service) => service.tracker.issues.map(({ id }) => id);

onBothStores(
  "a fingerprint gets one issue in 30 minutes, counted from the alert that made it",
  async (store) => {
    await using service = await startService({ store });
    const madeAt: number[] = [];
    for (let minute = 0; minute <= 70; minute += 10) {
      const before = issues(service).length;
      const { issue, issueId } = await fire(service);
      await service.advance(1_000);
      if (issue === "duplicate") expect(issueId).toBe(issues(service).at(-1)!);
      if (issues(service).length > before) madeAt.push(minute);
      await service.advance(10 * MINUTE_MS - 1_000, 60_000);
    }
    expect(madeAt).toEqual([0, 30, 60]);
    expect(new Set(issues(service)).size).toBe(3);
    // Every message but the first of each issue has its link.
    const linked = service.messages.map(({ text }) =>
      service.tracker.issues.findIndex(({ url }) => text.includes(url)),
    );
    expect(linked.filter((at) => at >= 0)).toEqual([0, 0, 1, 1, 2]);
  },
);

onBothStores(
  "a fingerprint that fires twenty times at once gets twenty messages and one issue",
  async (store) => {
    await using service = await startService({ store });
    const answers = await Promise.all(Array.from({ length: 20 }, () => fire(service)));
    expect(answers.filter(({ issue }) => issue !== "duplicate")).toHaveLength(1);
    await service.advance(30_000);
    expect([service.messages.length, issues(service).length]).toEqual([20, 1]);
  },
);

test.each([
  ["5c1f0e9a77b3d2e4", "d71ba183-606b-4aea-8b55-c193d0e7a0ff"],
  ['fp-ção, with "signs"', "87412e79-cacd-421d-a86c-388e6382b2ff"],
])(
  "the id of an issue is that of its fingerprint and claim in every version: %s",
  async (fingerprint, id) => {
    await using service = await startService();
    await service.post([alertOf({ fingerprint })]);
    expect(issues(service)).toEqual([id]);
  },
);

onBothStores(
  "a burst of a hundred issues goes out at once, then 300 an hour, also over a restart",
  async (store) => {
    await using service = await startService({ store, issuesPerHour: 300 });
    await service.post(Array.from({ length: 150 }, () => alertOf()));
    await service.advance(2_000);
    expect(issues(service)).toHaveLength(100);
    await service.advance(4 * MINUTE_MS, 12_000);
    expect(Math.abs(issues(service).length - 120)).toBeLessThanOrEqual(1);
    await service.restart();
    await service.advance(4 * MINUTE_MS, 12_000);
    expect(Math.abs(issues(service).length - 140)).toBeLessThanOrEqual(2);
    await service.advance(3 * MINUTE_MS, 12_000);
    expect(new Set(issues(service)).size).toBe(150);
  },
);

describe("an answer of the tracker to the creation of an issue", () => {
  test.each([...playedBy("webhook", REFUSED_ISSUES), ...playedBy("webhook", UNCLEAR_ISSUES)])(
    "$name",
    async ({ answer, becomes }) => {
      if (answer === "nobody_listens") throw new Error("No such row is played here");
      await using service = await startService(isEndless(answer) ? { peerLimitMs: 1_000 } : {});
      service.tracker.routes.graphql.next(answer);
      const first = await fire(service);
      const lines = service.log.filter(({ kind, level }) => kind === "issue" && level !== "info");
      expect(lines).toMatchObject([{ code: (becomes as { code: string }).code }]);
      if (becomes.status === "refused") {
        expect(first).toMatchObject({ whatsapp: "sent", issue: "refused" });
        expect((await service.health()).issue).toMatchObject({ queued: 0, dead: 1 });
        // The claim is given back: the next firing tries again.
        expect((await fire(service)).issue).toBe("created");
      } else {
        expect(first).toMatchObject({ whatsapp: "sent", issue: "queued" });
        expect((await fire(service)).issue).toBe("duplicate");
        await service.advance(10_000);
        expect((await service.health()).issue).toMatchObject({ queued: 0, dead: 0 });
      }
      expect(issues(service)).toHaveLength(1);
      expect((await service.health()).paused).toMatchObject({ message: null });
    },
  );
});

onBothStores(
  "a tracker that asks for patience gets it for every issue behind, and no message waits",
  async (store) => {
    await using service = await startService({ store });
    service.tracker.routes.graphql.next({ status: 429, headers: { "retry-after": "600" } });
    await service.post([alertOf("a")]);
    await service.post([alertOf("b")]);
    await service.advance(10 * MINUTE_MS - 1_000, 30_000);
    expect([service.messages.length, issues(service).length]).toEqual([2, 0]);
    await service.advance(2_000);
    expect(issues(service)).toHaveLength(2);
  },
);

/** What happens to a creation whose answer does not come. */
const LOST = [
  { name: "an issue whose answer is lost is made once", fault: { accept: "drop" } as const, made: 1 },
  {
    name: "an issue of which the tracker has heard nothing is made when it is back",
    fault: "drop_unread" as const,
    made: 0,
  },
];

onBothStores(LOST, async ({ fault, made }, store) => {
  await using service = await startService({ store });
  service.tracker.routes.graphql.scriptByBody = ({ rawBody }) =>
    rawBody.includes("issueCreate") || made === 0 ? fault : undefined;
  await fire(service);
  expect(issues(service)).toHaveLength(made);
  await service.kill();
  await service.restart();
  await service.advance(5 * MINUTE_MS, 5_000);
  service.tracker.routes.graphql.scriptByBody = null;
  await service.advance(5 * MINUTE_MS, 5_000);
  expect(issues(service)).toHaveLength(1);
  expect((await service.health()).issue).toMatchObject({ queued: 0, dead: 0 });
  expect(await fire(service)).toMatchObject({ issue: "duplicate", issueId: issues(service)[0]! });
});

/** What the tracker does with ten issues, again and again, that it never takes. */
const NEVER_TAKEN = [
  { name: "times out", fault: "hang", options: { peerLimitMs: 300 } },
  { name: "answers with a 500", fault: { status: 500, json: {} }, options: {} },
] as const;

onBothStores(
  NEVER_TAKEN.map((row) => ({ ...row, name: `ten issues for which the tracker ${row.name} delay no other` })),
  async ({ fault, options }, store) => {
    await using service = await startService({ store, ...options });
    service.tracker.routes.graphql.scriptByBody = ({ rawBody }) =>
      rawBody.includes("bad") ? fault : undefined;
    await service.post(Array.from({ length: 10 }, (_, at) => alertOf(`bad${at}`)));
    for (let minute = 0; minute < 10; minute += 1) {
      await service.advance(MINUTE_MS, 5_000);
      const before = issues(service).length;
      await service.post([alertOf(`good${minute}`)]);
      await service.advance(20_000, 1_000);
      expect(issues(service)).toHaveLength(before + 1);
    }
    expect((await service.health()).issue).toMatchObject({ queued: 10, dead: 0 });
  },
);

onBothStores(
  "a tracker that is unavailable for an hour gets an issue for each claim of that time",
  async (store) => {
    await using service = await startService({ store });
    service.tracker.routes.graphql.script = () => "drop_unread";
    for (let half = 0; half < 3; half += 1) {
      expect(await fire(service)).toMatchObject({ issue: "queued" });
      await service.advance(31 * MINUTE_MS, 60_000);
    }
    service.tracker.routes.graphql.script = null;
    await service.advance(10 * MINUTE_MS, 10_000);
    expect(new Set(issues(service)).size).toBe(3);
  },
);
