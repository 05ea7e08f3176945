/** Accepting alerts: what is kept, repeats, and the limits of the outbox. */
import { expect } from "bun:test";
import type { Alert } from "../../../../lib/webhook/alert/alert.ts";
import type { AcceptOutcome, State } from "../../../../lib/webhook/store/types.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptAll,
  acceptOne,
  acceptRows,
  alertsOf,
  DAY_MS,
  DEAD,
  DELIVERED,
  issueRowOf,
  MINUTE_MS,
  onlyDue,
  retryAfter,
  SECOND_MS,
  START_MS,
  type StateFixture,
  start,
  tryOnce,
} from "../../support/state-fixture.ts";
import type { StateTests } from "../../support/state-stores.ts";

/** Texts that a database, a statement or a format could take for something else. */
const ODD_TEXTS: [string, string][] = [
  ["NUL", "\u0000 nul \u0000"],
  ["half a character", "\udc00 and \ud83d"],
  ["marks of statements", `'; drop -- "$1" {outbox} {now} \\u0000 \\ %`],
  ["lines and symbols", "a\r\n\u2028\u0085\tb 🚨 ção"],
  ["64 KiB", `${"é".repeat(65_530)}\ud83d`],
  ["nothing", ""],
];

/** Registers the tests of what is kept. */
export function acceptTests({ test, each }: StateTests): void {
  each(ODD_TEXTS)(
    "keeps an alert as it is, whatever its texts are: %s",
    async ({ state, reopen }, _, odd) => {
      const labels = { [odd]: odd, ["__proto__"]: odd, toString: odd };
      const texts = { name: odd, summary: odd, description: odd, severity: odd, value: odd };
      const alert = sampleAlert({ ...texts, labels });
      const accepted = await acceptOne(state, alert);
      expect(accepted.alert).toEqual(alert);
      const row = await onlyDue(await reopen());
      expect(row).toEqual({
        ...{ attempts: 0, waitedMs: 0, triedMs: 0, ambiguous: 0, sent: null, members: [], isRepeat: false },
        ...{ id: accepted.messageRow, kind: "message", alert, issueId: null, issueUrl: null },
      });
      expect(JSON.stringify(row.alert)).toBe(JSON.stringify(alert));
    },
  );

  each(ODD_TEXTS)(
    "keeps what external services say of it, whatever that is: %s",
    async ({ state, setClock, reopen }, _, odd) => {
      const accepted = await acceptOne(state, sampleAlert({ name: odd }));
      const { messageRow } = accepted;
      await tryOnce(state, messageRow, retryAfter(0, { code: odd, mayHaveArrived: true }), start(odd));
      await state.finish(issueRowOf(accepted), { status: "delivered", reference: odd, url: odd });
      await state.pauseLane("message", odd);
      await state.keepEmail(JSON.stringify(odd));
      const again = await reopen();
      expect((await onlyDue(again)).sent?.text).toBe(odd);
      expect(await again.pendingEmail()).toBe(JSON.stringify(odd));
      const [{ code } = {}] = await again.listQueued(1);
      const { pausedBy } = (await again.lanes()).message;
      await again.finish(messageRow, { status: "delivered", reference: odd, url: null });
      await setClock(START_MS + SECOND_MS);
      const { message, issue } = await again.latest("f1");
      const kept = [code, pausedBy, message?.reference, issue?.reference, issue?.url];
      // What a column cannot hold is not kept as it was, but the same id is known again.
      if (/[\0\p{Cs}]|.{501}/u.test(odd)) expect(kept.every((text) => typeof text === "string")).toBe(true);
      else expect(kept).toEqual([odd, odd, odd, odd, odd]);
      expect([...(await again.heldReferences("message", [odd, "other"]))]).toEqual([odd]);
      expect(await again.deliveredBetween(MINUTE_MS, 0)).toEqual([message!.reference!]);
      expect((await again.recent(1))[0]?.shown.name).toBe(odd.slice(0, 200));
    },
  );

  test("takes thousands of requests, or many megabytes, at once", async ({ state }) => {
    const description = "x".repeat(1_000_000);
    const large = Array.from({ length: 12 }, (_, at) => [
      resolvedAlert({ fingerprint: `l${at}`, description }),
    ]);
    const small = Array.from({ length: 1_001 }, (_, at) => [resolvedAlert({ fingerprint: `s${at}` })]);
    for (const requests of [large, small, []])
      expect(await state.accept(requests)).toMatchObject(
        requests.map(([alert]) => ({ accepted: [{ alert }] })),
      );
    expect((await state.stats()).message.queued).toBe(1_013);
  });

  test("a request that the store refuses loses only itself, as a whole, however often it comes", async ({
    state,
    refuse,
    reopen,
  }) => {
    await refuse("poison");
    const REFUSED = { refused: "state_unavailable" } as const;
    const first = { accepted: [{ issue: { status: "first" } }] };
    const outcomes = await state.accept([alertsOf("a"), alertsOf("b poison"), alertsOf("b")]);
    expect(outcomes).toMatchObject([first, REFUSED, first]);
    expect(await state.accept([alertsOf("poison d"), alertsOf("c")])).toMatchObject([REFUSED, first]);
    expect(await state.accept([alertsOf("poison")])).toEqual([REFUSED]);
    const again = await reopen();
    expect(await again.stats()).toMatchObject({ message: { queued: 3 }, issue: { queued: 3 } });
    expect(await again.alertRecords(["d", "poison"])).toEqual([]);
    expect(await again.hourly(1)).toEqual([3]);
  });
}

/** Alerts; what is said of each: its issue, and whether it is a repeat; and how many comments there are then. */
const SEQUENCES: [string, string, string, number][] = [
  ["the same start", "a a a", "first, duplicate repeat, duplicate repeat", 0],
  ["another start", "a1 a2 a2", "first, duplicate, duplicate repeat", 0],
  ["no start", "a0 a0", "first, duplicate", 0],
  ["an end between", "a a- a a", "first, not_firing, duplicate, duplicate repeat", 1],
  ["an end first", "a- a a-", "not_firing, first, not_firing", 1],
  ["two ends", "a a- a-", "first, not_firing, not_firing", 1],
  ["another fingerprint", "a b a b-", "first, first, duplicate repeat, not_firing", 1],
];

async function oneByOne(state: State, requests: readonly Alert[][]): Promise<AcceptOutcome[]> {
  const outcomes: AcceptOutcome[] = [];
  for (const request of requests) outcomes.push(...(await state.accept([request])));
  return outcomes;
}

/** Ways in which requests may come. */
const WAYS = { "in one commit": (state: State, all: Alert[][]) => state.accept(all), "one by one": oneByOne };
type Way = keyof typeof WAYS;

/** Registers the tests of repeats. */
export function repeatTests({ test, each }: StateTests): void {
  const cases = SEQUENCES.flatMap((one) =>
    ["in one request", ...Object.keys(WAYS)].map((way) => [way, ...one]),
  );
  each(cases as [string, string, string, string, number][])(
    "%s: %s",
    async ({ state }, way, _, names, expected, comments) => {
      const alerts = alertsOf(names);
      const requests = alerts.map((alert) => [alert]);
      const outcomes = await (WAYS[way as Way] ?? WAYS["one by one"])(
        state,
        way in WAYS ? requests : [alerts],
      );
      const accepted = outcomes.flatMap((outcome) => ("accepted" in outcome ? outcome.accepted : []));
      const said = accepted.map(({ isRepeat, issue }) => `${issue.status}${isRepeat ? " repeat" : ""}`);
      expect(said.join(", ")).toBe(expected);
      expect((await state.stats()).comment.queued).toBe(comments);
      const waiting = (await state.digestible([])).toSorted((one, other) => one.id - other.id);
      expect(waiting.map(({ id, isRepeat }) => [id, isRepeat])).toEqual(
        accepted.map(({ messageRow, isRepeat }) => [messageRow, isRepeat]),
      );
    },
  );

  test("over a restart, and for as long as the alert is posted within 30 days", async ({
    state,
    setClock,
    reopen,
  }) => {
    await acceptOne(state, sampleAlert());
    const again = await reopen();
    for (const days of [7, 29, 58, 89]) {
      await setClock(START_MS + days * DAY_MS);
      await again.prune();
      expect([days, (await acceptOne(again, sampleAlert())).isRepeat]).toEqual([days, days < 89]);
    }
  });
}

/** So many alerts: resolved ("w"), firing ("f"), of one fingerprint ("s"), critical and resolved ("c"). */
function request(amounts: string): Alert[] {
  return amounts.split("+").flatMap((amount) =>
    Array.from({ length: Number.parseInt(amount, 10) }, (_, at) => {
      const fingerprint = `f${amount.endsWith("s") ? "" : at}`;
      if (amount.endsWith("c")) return resolvedAlert({ fingerprint, severity: " CRITICAL" });
      return /[fs]$/.test(amount) ? sampleAlert({ fingerprint }) : resolvedAlert({ fingerprint });
    }),
  );
}

const SIZE = Buffer.byteLength(JSON.stringify(request("1c")[0]));
const MANY = 1_000_000;

/** Limits of rows and bytes, requests (see `request`), and those that are refused. */
type Limit = [string, number, number, string, string];
type LimitCase = [Way, ...Limit];

const LIMITS: Limit[] = [
  ["whole requests", 4, MANY, "3w 2w 1w", "2w"],
  ["issues of a request", 100, MANY, "90f 45f", "90f"],
  ["an issue of a fingerprint", 10, MANY, "8s 1w", "1w"],
  ["comments", 10, MANY, "4f 1w 1c", "1w"],
  ["comments of a request", 10, MANY, "3f+3w 2f+2w", "3f+3w"],
  ["a tenth for critical ones", 10, MANY, "9w 1w 1c 2c", "1w 2c"],
  ["a tenth for requests with one", 10, MANY, "8w 2w 1w+1c", "2w"],
  ["the same, in other order", 10, MANY, "8w 2w 1c+1w", "2w"],
  ["bytes", MANY, 10 * SIZE, "9w 1w 1c 2c", "1w 2c"],
];

/** Registers the tests of the limits of rows and bytes. */
export function limitTests({ test, each, isShared }: StateTests): void {
  const ways = Object.keys(WAYS) as Way[];
  const cases = LIMITS.flatMap((limit) => ways.map((way): LimitCase => [way, ...limit]));
  const limitsOf = (...[, , rows, bytes]: LimitCase) => ({ limits: { rows, bytes } });
  each(cases, limitsOf)("%s, they count %s", async ({ state }, way, _, _rows, _bytes, requests, refused) => {
    const all = requests.split(" ");
    const outcomes = await WAYS[way](state, all.map(request));
    const full = outcomes.map((outcome) => "refused" in outcome && outcome.refused === "outbox_full");
    expect(full).toEqual(all.map((one) => refused.split(" ").includes(one)));
    const accepted = all.filter((_one, at) => !full[at]).flatMap(request);
    expect((await state.stats()).message.queued).toBe(accepted.length);
  });

  const three = { limits: { rows: 3, bytes: MANY } };
  const ended = async ({ state, setClock }: StateFixture) => {
    const rows = await acceptRows(state, "a", "b", "c");
    expect(await state.accept([request("1w")])).toEqual([{ refused: "outbox_full" }]);
    await state.finish(rows[0], DELIVERED);
    await state.finish(rows[1], DEAD);
    await state.dropQueued([rows[2]]);
    await setClock(START_MS + MINUTE_MS);
    await acceptAll(state, ...request("3w"));
  };
  test("they count no more what was delivered, given up or dropped", ended, three);

  const shared = async ({ state, setClock, another }: StateFixture) => {
    await acceptRows(state, "own");
    const other = await another();
    const [row] = await acceptRows(other, "a", "b");
    await setClock(START_MS + MINUTE_MS);
    expect(await state.accept([request("1w")])).toEqual([{ refused: "outbox_full" }]);
    await other.finish(row, DELIVERED);
    await setClock(START_MS + 2 * MINUTE_MS);
    await acceptAll(state, ...request("1w"));
  };
  if (isShared) test("they count within seconds what another process accepted or ended", shared, three);
}
