import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { alertEmailSender } from "../../../lib/webhook/second-channel/email-sender.ts";
import {
  SecondChannel,
  type SecondChannelDependencies,
  type SendAlertEmail,
} from "../../../lib/webhook/second-channel/second-channel.ts";
import { UnheardMemory } from "../../../lib/webhook/second-channel/unheard-memory.ts";
import { UnkeptMemory } from "../../../lib/webhook/second-channel/unkept-memory.ts";
import type { State } from "../../../lib/webhook/state/contract.ts";
import { openSqliteState } from "../../../lib/webhook/state/sqlite/state.ts";
import { type EmailProvider, startEmailProvider } from "../../standins/email-provider.ts";
import { silentLog } from "../../support/silent-log.ts";
import { sampleAlert } from "../support/sample-alert.ts";
import { acceptAll, DELIVERED, MINUTE_MS, SECOND_MS, START_MS } from "../support/state-fixture.ts";

const KEY = "canary-email-key";
const FROM = "alarm@mail.example";
const TO = "ops@client.example";

const MADE = { id: "a", subject: "a", html: "a", text: "a" };

let directory: string;
let state: State;
let provider: EmailProvider;
let nowMs: number;
let errors: unknown[];
let isTelling: boolean;
let sender: SendAlertEmail | null;
let rows: UnheardMemory;
let unkept: UnkeptMemory;
let unacknowledged: string[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "opsctl-second-"));
  nowMs = START_MS;
  errors = [];
  isTelling = true;
  unacknowledged = [];
  const clocks = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  rows = new UnheardMemory(clocks);
  unkept = new UnkeptMemory(clocks);
  state = await openSqliteState({ directory, nowMs: () => nowMs, log: silentLog });
  provider = await startEmailProvider({ apiKey: KEY });
  sender = alertEmailSender({ apiUrl: provider.url, apiKey: new Secret(KEY), from: FROM, to: TO }, () => {});
});
afterEach(async () => {
  await state.close();
  await provider.stop();
  rmSync(directory, { recursive: true });
});

function channelWith(more: Partial<SecondChannelDependencies> = {}): SecondChannel {
  return new SecondChannel({
    state,
    rows,
    unkept,
    unacknowledged: () => unacknowledged,
    send: () => sender,
    isTelling: () => isTelling,
    reason: () => "sem_instancia_gateway",
    log: { ...silentLog, error: (_msg, fields) => void errors.push(fields?.code) },
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    ...more,
  });
}

const critical = (fingerprint: string) =>
  sampleAlert({ fingerprint, severity: "critical", name: fingerprint });
const signal = new AbortController().signal;
const keys = () => provider.routes.send.calls.map(({ headers }) => headers["idempotency-key"]);
const bodies = () => provider.routes.send.calls.map(({ rawBody }) => rawBody);
const waiting = async () => (await state.unheard(0)).map(({ alert }) => alert.fingerprint);

describe("SecondChannel.look()", () => {
  test("e-mails a critical alert that WhatsApp has not taken for three minutes, once", async () => {
    const channel = channelWith();
    await acceptAll(state, critical("disk"), sampleAlert({ fingerprint: "other", severity: "high" }));
    nowMs += 3 * MINUTE_MS - 1;
    await channel.look(signal);
    expect(provider.ledger).toHaveLength(0);
    nowMs += 1;
    await channel.look(signal);
    expect(provider.accepted).toHaveLength(1);
    const [email] = provider.accepted;
    expect(email).toMatchObject({ from: FROM, to: [TO] });
    expect(email!.text).toContain("disk");
    expect(email!.text).toContain("sem_instancia_gateway");
    expect(email!.text).not.toContain("other");
    expect(email!.idempotencyKey).toMatch(/^opsctl-alert-email\/[0-9a-f]{64}$/);
    for (let minute = 0; minute < 10; minute += 1) {
      nowMs += MINUTE_MS;
      await channel.look(signal);
    }
    expect(provider.ledger).toHaveLength(1);
    expect(await state.detour()).toEqual({ emailed: 1, givenUp: 0 });
  });

  test("tells an alert about the alarm itself, whatever its severity, and none that WhatsApp took", async () => {
    const channel = channelWith();
    const labels = { alertname: "Webhook parado", via: "other" };
    const [, taken] = await acceptAll(
      state,
      sampleAlert({ fingerprint: "alarm", name: "Webhook parado", severity: null, labels }),
      critical("taken"),
    );
    await state.settle(taken!.messageRow, DELIVERED);
    nowMs += 3 * MINUTE_MS;
    await channel.look(signal);
    expect(provider.accepted).toHaveLength(1);
    expect(provider.accepted[0]!.text).toContain("Webhook parado");
    expect(provider.accepted[0]!.text).not.toContain("taken");
  });

  test("tells again, once, the urgent ones that WhatsApp took and does not acknowledge, also after a restart", async () => {
    const via = { alertname: "alarm", via: "other" };
    const [disk, high, alarm, fine] = await acceptAll(
      state,
      critical("disk"),
      sampleAlert({ fingerprint: "high", name: "high", severity: "high" }),
      sampleAlert({ fingerprint: "alarm", name: "alarm", severity: "high", labels: via }),
      critical("fine"),
    );
    const ids = { disk, high, alarm, fine };
    for (const [reference, accepted] of Object.entries(ids))
      await state.settle(accepted!.messageRow, { status: "delivered", reference, url: null });
    nowMs += 2 * MINUTE_MS;
    await channelWith().look(signal);
    expect(provider.ledger).toHaveLength(0);
    unacknowledged = ["alarm", "high", "disk"];
    isTelling = false;
    await channelWith().look(signal);
    expect(provider.ledger).toHaveLength(0);
    isTelling = true;
    for (let minute = 0; minute < 3; minute += 1) {
      await channelWith().look(signal);
      nowMs += MINUTE_MS;
    }
    expect(provider.accepted).toHaveLength(1);
    const { text } = provider.accepted[0]!;
    expect(text).toStartWith(
      "Por e-mail porque o gateway aceitou as últimas mensagens e o WhatsApp não confirmou",
    );
    expect(text).toContain("🔴 disk");
    expect(text).toContain("alarm");
    expect(text).not.toContain("high ");
    expect(text).not.toContain("fine");
    expect(await state.detour()).toEqual({ emailed: 2, givenUp: 0 });
  });

  test("tells in one e-mail what waits and what is not acknowledged, and none of them twice", async () => {
    const channel = channelWith();
    const [first] = await acceptAll(state, critical("first"), critical("second"));
    await state.settle(first!.messageRow, { status: "delivered", reference: "first", url: null });
    unacknowledged = ["first"];
    nowMs += 3 * MINUTE_MS;
    for (let minute = 0; minute < 3; minute += 1) {
      await channel.look(signal);
      nowMs += MINUTE_MS;
    }
    expect(provider.accepted).toHaveLength(1);
    expect(provider.accepted[0]!.text).toContain("first");
    expect(provider.accepted[0]!.text).toContain("second");
  });

  test("sends at most one e-mail a minute, each with all that wait, and none later than three minutes and a poll", async () => {
    const channel = channelWith();
    const toldAtMs = new Map<string, number>();
    const acceptedAtMs = new Map<string, number>();
    for (let second = 0; second < 600; second += 5) {
      if (second % 35 === 0) {
        acceptedAtMs.set(`f${second}`, nowMs);
        await acceptAll(state, critical(`f${second}`));
      }
      const before = new Set(await waiting());
      await channel.look(signal);
      const after = new Set(await waiting());
      for (const fingerprint of before) if (!after.has(fingerprint)) toldAtMs.set(fingerprint, nowMs);
      nowMs += 5 * SECOND_MS;
    }
    const sentAtMs = [...new Set(toldAtMs.values())];
    for (const [at, ms] of sentAtMs.entries())
      if (at > 0) expect(ms - sentAtMs[at - 1]!).toBeGreaterThanOrEqual(MINUTE_MS);
    expect(toldAtMs.size).toBeGreaterThan(10);
    for (const [fingerprint, ms] of toldAtMs)
      expect(ms - acceptedAtMs.get(fingerprint)!).toBeLessThanOrEqual(3 * MINUTE_MS + 5 * SECOND_MS);
  });

  test("tells at most a hundred in an e-mail, the oldest first, and the others a minute later", async () => {
    const channel = channelWith();
    const names = Array.from({ length: 130 }, (_, at) => `f${at}`);
    await acceptAll(state, ...names.map(critical));
    nowMs += 3 * MINUTE_MS;
    await channel.look(signal);
    expect(await waiting()).toEqual(names.slice(100));
    nowMs += MINUTE_MS;
    await channel.look(signal);
    expect(await waiting()).toEqual([]);
    expect(provider.accepted).toHaveLength(2);
  });

  test("repeats an e-mail whose answer was not clear as it was, so that one arrives", async () => {
    const channel = channelWith();
    provider.routes.send.next({ accept: "drop" }, { accept: { status: 500, json: {} } });
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    await channel.look(signal);
    expect(await waiting()).toEqual(["disk"]);
    await acceptAll(state, critical("later"));
    for (let minute = 0; minute < 2; minute += 1) {
      nowMs += MINUTE_MS;
      await channel.look(signal);
    }
    expect(new Set(keys()).size).toBe(1);
    expect(new Set(bodies()).size).toBe(1);
    expect(provider.accepted).toHaveLength(1);
    expect(await waiting()).toEqual(["later"]);
    nowMs += MINUTE_MS;
    await channel.look(signal);
    expect(await waiting()).toEqual([]);
    expect(provider.accepted).toHaveLength(2);
  });

  test.each([1, 2, 3, 4])(
    "tells an alert within four minutes although %p sends of an earlier e-mail got no clear answer",
    async (count) => {
      const channel = channelWith();
      let failures = count;
      provider.routes.send.scriptByBody = ({ rawBody }) =>
        rawBody.includes("earlier") && failures-- > 0 ? { accept: { status: 500, json: {} } } : undefined;
      await acceptAll(state, critical("earlier"));
      nowMs += MINUTE_MS + 20 * SECOND_MS;
      await acceptAll(state, critical("since"));
      let toldAfterMs: number | null = null;
      for (let second = 0; second < 420; second += 5) {
        await channel.look(signal);
        if (provider.accepted.some(({ text }) => text?.includes("since"))) toldAfterMs ??= second * SECOND_MS;
        nowMs += 5 * SECOND_MS;
      }
      expect(toldAfterMs).toBeLessThanOrEqual(4 * MINUTE_MS);
      expect(provider.accepted).toHaveLength(2);
      expect(await waiting()).toEqual([]);
    },
  );

  test("an e-mail that may have come is not made anew when the provider asks for patience, one that was refused is", async () => {
    const channel = channelWith();
    const patience = { status: 429, json: { name: "rate_limit_exceeded" }, headers: { "retry-after": "1" } };
    provider.routes.send.next({ accept: "drop" }, patience);
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    for (let minute = 0; minute < 3; minute += 1) {
      await channel.look(signal);
      nowMs += MINUTE_MS;
    }
    expect([new Set(keys()).size, provider.accepted.length]).toEqual([1, 1]);
    provider.routes.send.next(patience);
    await acceptAll(state, critical("other"));
    nowMs += 3 * MINUTE_MS;
    await channel.look(signal);
    await acceptAll(state, critical("since"));
    nowMs += 2 * MINUTE_MS;
    await channel.look(signal);
    expect(provider.accepted).toHaveLength(2);
    expect(provider.accepted[1]!.text).toContain("since");
  });

  test("lets an e-mail that never gets a clear answer keep no later alert from its own", async () => {
    const channel = channelWith();
    provider.routes.send.scriptByBody = ({ rawBody }) =>
      rawBody.includes("poison") ? { status: 500, json: {} } : undefined;
    await acceptAll(state, critical("poison"));
    nowMs += 3 * MINUTE_MS;
    await channel.look(signal);
    await acceptAll(state, critical("later"));
    for (let minute = 0; minute < 4; minute += 1) {
      nowMs += MINUTE_MS;
      await channel.look(signal);
    }
    expect(await waiting()).toEqual(["poison"]);
    expect(provider.accepted).toHaveLength(1);
    provider.routes.send.scriptByBody = null;
    nowMs += MINUTE_MS;
    await channel.look(signal);
    expect(await waiting()).toEqual([]);
    expect(new Set(keys()).size).toBe(2);
  });

  test("does not repeat an e-mail in doubt whose alerts WhatsApp took meanwhile", async () => {
    const channel = channelWith();
    provider.routes.send.next("drop");
    const [accepted] = await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    await channel.look(signal);
    await state.settle(accepted!.messageRow, DELIVERED);
    nowMs += MINUTE_MS;
    await channel.look(signal);
    expect(provider.ledger).toHaveLength(1);
  });

  test("makes a new e-mail after a refusal, and says once why none goes", async () => {
    const channel = channelWith();
    const refused = { status: 403, json: { name: "validation_error", message: "no" } };
    provider.routes.send.next(refused, refused, refused);
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    for (let minute = 0; minute < 4; minute += 1) {
      await channel.look(signal);
      nowMs += MINUTE_MS;
    }
    expect(provider.accepted).toHaveLength(1);
    expect(new Set(keys()).size).toBe(4);
    expect(errors).toEqual(["validation_error"]);
  });

  test("waits no longer than five minutes, whatever the provider asks for", async () => {
    const channel = channelWith();
    const headers = { "retry-after": "3600" };
    provider.routes.send.next({ status: 429, json: { name: "rate_limit_exceeded" }, headers });
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    await channel.look(signal);
    nowMs += 5 * MINUTE_MS - 1;
    await channel.look(signal);
    expect(provider.ledger).toHaveLength(1);
    nowMs += 1;
    await channel.look(signal);
    expect(provider.accepted).toHaveLength(1);
  });

  test("waits as long as the provider asks for", async () => {
    const channel = channelWith();
    provider.routes.send.next({
      status: 429,
      json: { name: "rate_limit_exceeded" },
      headers: { "retry-after": "150" },
    });
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    await channel.look(signal);
    nowMs += 149 * SECOND_MS;
    await channel.look(signal);
    expect(provider.ledger).toHaveLength(1);
    nowMs += SECOND_MS;
    await channel.look(signal);
    expect(provider.accepted).toHaveLength(1);
  });

  test("does not send again what the provider took and the state could not record", async () => {
    let failures = 2;
    const channel = channelWith({
      state: {
        ...state,
        async recordEmailed(rows) {
          if (failures-- > 0) throw new Error("disk full");
          await state.recordEmailed(rows);
        },
      },
    });
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    for (let minute = 0; minute < 4; minute += 1) {
      await channel.look(signal);
      nowMs += MINUTE_MS;
    }
    expect(provider.accepted).toHaveLength(1);
    expect(provider.ledger).toHaveLength(1);
    expect(await waiting()).toEqual([]);
  });

  test("sends nothing where another process tells, or none is set up", async () => {
    const channel = channelWith();
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    isTelling = false;
    await channel.look(signal);
    isTelling = true;
    const set = sender;
    sender = null;
    await channel.look(signal);
    expect(provider.ledger).toHaveLength(0);
    sender = set;
    await channel.look(signal);
    expect(provider.accepted).toHaveLength(1);
  });

  test("repeats it as it was after a restart, too, so that one arrives", async () => {
    provider.routes.send.next({ accept: "drop" });
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    await channelWith().look(signal);
    await acceptAll(state, critical("later"));
    nowMs += 4 * MINUTE_MS;
    const next = channelWith();
    await next.look(signal);
    const [first, later, again] = keys();
    expect([again, bodies()[2]]).toEqual([first, bodies()[0]]);
    expect(later).not.toBe(first);
    expect(provider.accepted.map(({ text }) => text?.includes("later"))).toEqual([false, true]);
    expect(await waiting()).toEqual([]);
    expect(await state.keptEmail()).toBeNull();
  });

  test("does not send again what the provider took just before the process was killed", async () => {
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    const killed = new Error("killed");
    const before = channelWith({ state: { ...state, recordEmailed: () => Promise.reject(killed) } });
    await before.look(signal);
    nowMs += MINUTE_MS;
    await channelWith().look(signal);
    expect(provider.accepted).toHaveLength(1);
    expect(await waiting()).toEqual([]);
  });

  test.each([
    ["nothing that can be read", "{"],
    ["an e-mail of rows that were heard", JSON.stringify({ email: MADE, rows: [99] })],
  ])("makes a new one where the state has %s", async (_what, kept) => {
    await state.keepEmail(kept);
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    await channelWith().look(signal);
    expect(provider.accepted).toHaveLength(1);
    expect(provider.accepted[0]!.text).toContain("disk");
  });

  test("is made anew, with another key, when the provider knows the key with other addresses", async () => {
    provider.routes.send.next({ accept: "drop" });
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    await channelWith().look(signal);
    sender = alertEmailSender(
      { apiUrl: provider.url, apiKey: new Secret(KEY), from: FROM, to: "others@client.example" },
      () => {},
    );
    const next = channelWith();
    for (let minute = 0; minute < 2; minute += 1) {
      nowMs += MINUTE_MS;
      await next.look(signal);
    }
    expect(provider.accepted.map(({ to }) => to)).toEqual([[TO], ["others@client.example"]]);
    expect(await waiting()).toEqual([]);
  });

  test("is sent also where it cannot be kept", async () => {
    await acceptAll(state, critical("disk"));
    nowMs += 3 * MINUTE_MS;
    const keepEmail = () => Promise.reject(new Error("disk full"));
    await channelWith({ state: { ...state, keepEmail } }).look(signal);
    expect(provider.accepted).toHaveLength(1);
    expect(await waiting()).toEqual([]);
  });
});

describe("SecondChannel.look() while the state fails", () => {
  let isBroken: boolean;
  beforeEach(() => {
    isBroken = false;
  });

  const failing = (): Partial<SecondChannelDependencies> => ({
    state: {
      unheard: async (ms) => (isBroken ? await broken() : await state.unheard(ms)),
      unacknowledged: async (ids) => (isBroken ? await broken() : await state.unacknowledged(ids)),
      recordEmailed: async (ids) => (isBroken ? await broken() : await state.recordEmailed(ids)),
      keptEmail: async () => (isBroken ? await broken() : await state.keptEmail()),
      keepEmail: async (email) => (isBroken ? await broken() : await state.keepEmail(email)),
    },
  });
  const broken = () => Promise.reject(new Error("EIO"));
  const told = () => provider.accepted.map(({ text }) => text).join();

  /** Looks every five seconds for so long. */
  async function look(channel: SecondChannel, forMs: number): Promise<void> {
    for (const endMs = nowMs + forMs; nowMs < endMs; nowMs += 5 * SECOND_MS) await channel.look(signal);
    await channel.look(signal);
  }

  test.each(["accepted by this process", "found in the state"])(
    "tells in time what was %s before, once, and records it when it can",
    async (known) => {
      const channel = channelWith(failing());
      const accepted = await acceptAll(state, critical("disk"), sampleAlert({ fingerprint: "other" }));
      if (known === "found in the state") await channel.look(signal);
      else rows.accepted(accepted);
      isBroken = true;
      await look(channel, 3 * MINUTE_MS - 5 * SECOND_MS);
      expect(provider.accepted).toHaveLength(0);
      await look(channel, MINUTE_MS);
      expect(told()).toContain("disk");
      expect(told()).not.toContain("other");
      await look(channel, 10 * MINUTE_MS);
      isBroken = false;
      await look(channel, 5 * MINUTE_MS);
      expect(provider.ledger).toHaveLength(1);
      expect(await waiting()).toEqual([]);
      expect(await state.detour()).toEqual({ emailed: 1, givenUp: 0 });
    },
  );

  test("tells the next ones although it cannot be recorded what was told", async () => {
    const writesFail = { ...state, recordEmailed: broken, keepEmail: broken };
    const channel = channelWith({ state: writesFail });
    for (const name of ["first", "second", "third"]) {
      await acceptAll(state, critical(name));
      await look(channel, 2 * MINUTE_MS);
    }
    await look(channel, 2 * MINUTE_MS);
    for (const name of ["first", "second", "third"])
      expect(provider.accepted.filter(({ text }) => text?.includes(name))).toHaveLength(1);
  });

  test("does not tell what WhatsApp took and the state could not record", async () => {
    const channel = channelWith(failing());
    const [accepted] = await acceptAll(state, critical("disk"));
    await channel.look(signal);
    rows.delivered(accepted!.messageRow);
    await look(channel, 5 * MINUTE_MS);
    isBroken = true;
    await look(channel, 5 * MINUTE_MS);
    expect(provider.ledger).toHaveLength(0);
  });

  test("tells of a process that is not the one to tell what it accepted itself, and nothing else", async () => {
    const channel = channelWith(failing());
    isTelling = false;
    await acceptAll(state, critical("elsewhere"));
    rows.accepted(await acceptAll(state, critical("here")));
    await look(channel, MINUTE_MS);
    isBroken = true;
    await look(channel, 4 * MINUTE_MS);
    expect(told()).toContain("here");
    expect(told()).not.toContain("elsewhere");
  });
});

describe("SecondChannel.look() with alerts that the state does not keep", () => {
  async function pass(channel: SecondChannel, ms: number): Promise<void> {
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 5 * SECOND_MS) await channel.look(signal);
  }

  test("tells an urgent one that WhatsApp has not taken since its first post, once, whichever process leads", async () => {
    const channel = channelWith();
    isTelling = false;
    unkept.posted(sampleAlert({ fingerprint: "other", name: "other" }));
    for (let minute = 0; minute < 20; minute += 1) {
      unkept.posted(critical("disk"));
      await pass(channel, MINUTE_MS);
      expect(provider.accepted).toHaveLength(minute < 3 ? 0 : 1);
    }
    expect(provider.accepted[0]!.text).toContain("disk");
    expect(provider.accepted[0]!.text).not.toContain("other");
    expect(provider.accepted[0]!.text).not.toContain("também chega por lá");
  });

  test("does not tell one that WhatsApp took", async () => {
    const channel = channelWith();
    unkept.posted(critical("disk"));
    await pass(channel, 2 * MINUTE_MS);
    unkept.taken(critical("disk"));
    await pass(channel, 5 * MINUTE_MS);
    expect(provider.ledger).toHaveLength(0);
  });

  test("does not tell again one that the state keeps by now", async () => {
    const channel = channelWith();
    unkept.posted(critical("disk"));
    unkept.posted(critical("soon"));
    await pass(channel, 3 * MINUTE_MS + 5 * SECOND_MS);
    expect(provider.accepted).toHaveLength(1);
    const accepted = await acceptAll(state, critical("disk"));
    rows.accepted(accepted);
    rows.emailed(unkept.kept(accepted));
    await pass(channel, 10 * MINUTE_MS);
    expect(provider.accepted).toHaveLength(1);
    expect(await waiting()).toEqual([]);
  });

  test("remembers a thousand, and lets those go that were e-mailed", async () => {
    for (let at = 0; at < 1_500; at += 1) unkept.posted(critical(`f${at}`));
    expect(unkept.waiting(0)).toHaveLength(1_000);
    const [first] = unkept.waiting(0);
    unkept.emailed([first!.row]);
    unkept.posted(critical("late"));
    expect(unkept.waiting(0).at(-1)!.alert.fingerprint).toBe("late");
    nowMs += 24 * 60 * MINUTE_MS;
    expect(unkept.waiting(0)).toEqual([]);
  });
});
