/** The fallback e-mail: which alerts that WhatsApp does not take are mailed, when, how often, and after which answers. */
import { describe, expect, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import {
  alertOf,
  MINUTE_MS,
  onBothStores,
  type Service,
  type ServiceOptions,
  startService,
} from "../support/start-service.ts";
import {
  critical,
  type EmailTrouble,
  type GatewayTrouble,
  type Mail,
  mailCalls,
  mails,
  onPhone,
  STEP_MS,
  setEmail,
  setGateway,
} from "../support/two-channels.ts";

const minutes = (service: Service, count: number) => service.advance(count * MINUTE_MS, STEP_MS);

/** A service whose gateway is in trouble and has an alert, accepted at second 0. */
async function startInTrouble(
  alert = critical("a"),
  trouble: GatewayTrouble = "away",
  options: ServiceOptions = {},
): Promise<Service> {
  const service = await startService({ email: true, ...options });
  setGateway(service, trouble);
  await service.post([alert]);
  return service;
}

const about = (labels: object) => alertOf("alert-a", { labels });

type Waiting = { name: string; alert: Record<string, unknown>; trouble: GatewayTrouble; code: string };
const MAILED: Waiting[] = [
  { name: "a critical one", alert: critical("a"), trouble: "away", code: "gateway_http_502" },
  { name: "one for a closed phone", alert: critical("a"), trouble: "closed", code: "sem_instancia_gateway" },
  {
    name: "one about the webhook",
    alert: about({ via: "other" }),
    trouble: "away",
    code: "gateway_http_502",
  },
];
const NOT_MAILED: Omit<Waiting, "code">[] = [
  { name: "one that is no more than high", alert: about({ severity: "high" }), trouble: "away" },
  { name: "a critical one that is taken at once", alert: critical("a"), trouble: "none" },
];

describe("an alert that waits for the gateway is mailed three minutes later, once, and a message says so afterwards:", () => {
  onBothStores(MAILED, async (row, store) => {
    await using service = await startInTrouble(row.alert, row.trouble, { store });
    await minutes(service, 13);
    expect(service.email.ledger).toHaveLength(1);
    const [{ second, alerts }] = mails(service) as [Mail];
    expect([alerts, second >= 180, second <= 190]).toEqual([["a"], true, true]);
    const [mail] = service.email.accepted;
    expect(mail).toMatchObject({ from: "alarm@mail.example", to: ["ops@client.example"] });
    expect(mail!.idempotencyKey).toMatch(/^opsctl-alert-email\/[0-9a-f]{64}$/);
    expect(mail!.text).toContain(row.code);
    expect(mail!.text).toContain("a mensagem também chega por lá");
    setGateway(service, "none");
    await minutes(service, 5);
    // A text that may have arrived before does not change any more.
    await service.post([critical("b")]);
    expect(onPhone(service)).toEqual(["a", "b"]);
    const notes = service.messages.filter(({ text }) => text.includes("1 alerta avisado por e-mail"));
    expect(notes).toHaveLength(1);
  });
});

describe("an alert is not mailed:", () => {
  onBothStores(NOT_MAILED, async ({ alert, trouble }, store) => {
    await using service = await startInTrouble(alert, trouble, { store });
    await minutes(service, 13);
    expect(service.email.ledger).toHaveLength(0);
    setGateway(service, "none");
    await minutes(service, 5);
    expect(onPhone(service)).toEqual(["a"]);
    expect(service.messages[0]!.text).not.toContain("e-mail");
  });
});

describe("an alert that waits for the gateway:", () => {
  onBothStores("one whose result stays unknown is mailed: it may be on the phone as well", async (store) => {
    await using service = await startInTrouble(critical("a"), "unclear", { store });
    await minutes(service, 8);
    expect((await service.health()).message.unknown).toBe(1);
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"]]);
    expect(service.email.accepted[0]!.text).toContain("não se sabe se o WhatsApp entregou");
  });

  test("one is mailed once the e-mail is set up, and not before", async () => {
    await using service = await startInTrouble(critical("a"), "away", { email: false });
    await minutes(service, 6);
    expect(service.email.ledger).toHaveLength(0);
    await service.reload({ email: true });
    await service.advance(STEP_MS);
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"]]);
  });

  test("one is mailed by the host that delivers, and by the next one when that is gone", async () => {
    await using service = await startService({ store: "postgres", email: true });
    const other = await service.another();
    setGateway(service, "away");
    await other.post([critical("a")]);
    await minutes(service, 4);
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"]]);
    await service.end();
    await other.post([critical("b")]);
    await service.advance(4 * MINUTE_MS, STEP_MS);
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"], ["b"]]);
  });
});

describe("e-mails about several alerts", () => {
  test("come once a minute at most, each with all that wait, and none later than four minutes", async () => {
    await using service = await startService({ email: true });
    setGateway(service, "away");
    const acceptedAt = new Map<string, number>();
    for (let second = 0; second < 600; second += 35) {
      acceptedAt.set(`s${second}`, service.second);
      await service.post([critical(`s${second}`)]);
      await service.advance(35_000, STEP_MS);
    }
    await minutes(service, 4);
    const seconds = mails(service).map(({ second }) => second);
    for (const [at, second] of seconds.entries())
      if (at > 0) expect(second - seconds[at - 1]!).toBeGreaterThanOrEqual(60);
    const mailed = mails(service).flatMap(({ second, alerts }) => alerts.map((name) => ({ name, second })));
    expect(mailed.map(({ name }) => name)).toEqual([...acceptedAt.keys()]);
    for (const { name, second } of mailed) expect(second - acceptedAt.get(name)!).toBeLessThanOrEqual(200);
  });

  test("name a hundred each, the oldest first, the others a minute later", async () => {
    await using service = await startService({ email: true });
    setGateway(service, "closed");
    await service.advance(MINUTE_MS, STEP_MS);
    const names = Array.from({ length: 130 }, (_, at) => `n${at}`);
    await service.post(names.map(critical));
    await minutes(service, 5);
    expect(mails(service)).toEqual([
      { second: expect.any(Number), alerts: names.slice(0, 100) },
      { second: expect.any(Number), alerts: names.slice(100) },
    ]);
  });
});

const LIMITED: Scripted = {
  status: 429,
  json: { name: "rate_limit_exceeded" },
  headers: { "retry-after": "3600" },
};
const REFUSED: Scripted = { status: 403, json: { name: "validation_error", message: "no" } };
const KEY_IN_USE: Scripted = { status: 409, json: { name: "invalid_idempotent_request" } };

type Answers = {
  what: string;
  answers: Scripted[];
  /** How many seconds after the first e-mail it is sent again, null for any, and by which of its keys. */
  again: [seconds: number | null, key: number][];
  logged?: string[];
};
const ANSWERS: Answers[] = [
  {
    what: "no clear answer: the same e-mail comes each minute until there is one",
    answers: [{ accept: "drop" }, { accept: { status: 500, json: {} } }],
    again: [
      [60, 0],
      [120, 0],
    ],
    logged: ["email_connection_lost", "email_http_500"],
  },
  {
    what: "a refusal: it is made anew each minute, and the log says so once",
    answers: [REFUSED, REFUSED, REFUSED],
    again: [
      [60, 1],
      [120, 2],
      [180, 3],
    ],
    logged: ["validation_error"],
  },
  { what: "a 429: the same comes after a minute", answers: [LIMITED], again: [[60, 0]] },
  {
    what: "a key that the provider knows with another content: it is made anew",
    answers: ["drop", KEY_IN_USE],
    again: [
      [60, 0],
      [null, 1],
    ],
  },
];

describe("the e-mail provider gives", () => {
  test.each(ANSWERS)("$what", async ({ answers, again, logged }) => {
    await using service = await startInTrouble();
    service.email.routes.send.next(...answers);
    await minutes(service, 15);
    const calls = mailCalls(service);
    const keys = [...new Set(calls.map(({ key }) => key))];
    const sent = calls.slice(1).map(({ second, key }) => [second - calls[0]!.second, keys.indexOf(key)]);
    expect(sent).toEqual(again.map(([seconds, key]) => [seconds ?? expect.any(Number), key]));
    expect(new Set(calls.map(({ body }) => body)).size).toBe(keys.length);
    expect(mails(service)).toHaveLength(1);
    const codes = service.log
      .filter(({ msg }) => msg.includes("cannot be e-mailed yet"))
      .map((line) => line.code);
    if (logged !== undefined) expect(codes).toEqual(logged);
  });

  test("no clear answer: the same e-mail comes again until there is one, then that of a later alert", async () => {
    await using service = await startInTrouble();
    setEmail(service, "unclear");
    await service.advance(80_000, STEP_MS);
    await service.post([critical("b")]);
    await minutes(service, 4);
    setEmail(service, "none");
    await minutes(service, 5);
    const calls = mailCalls(service);
    const later = calls.at(-1)!;
    expect(calls.map(({ alerts }) => alerts)).toEqual([...calls.slice(1).map(() => ["a"]), ["b"]]);
    expect(new Set(calls.map(({ key, body }) => `${key} ${body}`)).size).toBe(2);
    expect(calls.length).toBeGreaterThan(3);
    expect(later.second).toBeLessThanOrEqual(80 + 360);
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"], ["b"]]);
  });

  test("no clear answer, and WhatsApp takes the alert meanwhile: the e-mail does not come again", async () => {
    await using service = await startInTrouble(critical("a"), "closed");
    service.email.routes.send.next("drop");
    await service.advance(3.1 * MINUTE_MS, STEP_MS);
    setGateway(service, "none");
    await minutes(service, 6);
    expect(onPhone(service)).toEqual(["a"]);
    expect(service.email.ledger).toHaveLength(1);
  });

  onBothStores(
    (["restart", "kill"] as const).map((end) => ({
      end,
      name: `no answer before a ${end}: the next process sends the same e-mail, and later alerts another`,
    })),
    async ({ end }, store) => {
      await using service = await startInTrouble(critical("a"), "away", { store });
      service.email.routes.send.next(end === "kill" ? { accept: "hang" } : { accept: "drop" });
      await service.advance(3.1 * MINUTE_MS, STEP_MS);
      await service.post([critical("b")]);
      if (end === "kill") await service.kill();
      await service.restart();
      await minutes(service, 6);
      const calls = mailCalls(service);
      const [first, again, later] = ["a", "a", "b"].map((name, at) =>
        calls.filter(({ alerts }) => alerts.includes(name)).at(at % 2),
      );
      expect([again!.key, again!.body]).toEqual([first!.key, first!.body]);
      expect(later!.key).not.toBe(first!.key);
      expect(mails(service).map(({ alerts }) => alerts)).toEqual([["a"], ["b"]]);
      expect(calls).toHaveLength(3);
    },
  );
});

/** A minute each. */
const SCENARIOS: Record<string, [GatewayTrouble, EmailTrouble][]> = {
  "the gateway goes": Array(4).fill(["away", "none"]),
  "the phone goes": Array(4).fill(["closed", "none"]),
  "the phone goes, then the gateway, and the phone is the last to come back": [
    ["closed", "none"],
    ["closed", "none"],
    ["away", "none"],
    ["away", "none"],
    ["closed", "none"],
  ],
  "the e-mail goes first and is back before the gateway": [
    ["none", "away"],
    ["away", "away"],
    ["away", "none"],
    ["away", "none"],
    ["away", "none"],
  ],
  "the e-mail gives no clear answers at first": [
    ["away", "unclear"],
    ["away", "unclear"],
    ["away", "unclear"],
    ["away", "none"],
    ["away", "none"],
  ],
};

describe("a critical alert is heard within four minutes, all by WhatsApp in the end", () => {
  test.each(Object.entries(SCENARIOS))("%s", async (_what, scenario) => {
    await using service = await startService({ email: true });
    const acceptedAt = new Map<string, number>();
    for (const [at, [gateway, email]] of scenario.entries()) {
      setGateway(service, gateway);
      setEmail(service, email);
      acceptedAt.set(`m${at}`, service.second);
      await service.post([critical(`m${at}`)]);
      await minutes(service, 1);
    }
    await minutes(service, 3.5);
    const mailed = mails(service).flatMap(({ alerts }) => alerts);
    expect(new Set(mailed).size).toBe(mailed.length);
    const heard = [
      ...mails(service),
      ...service.messages.map(({ second, text }) => ({ second, alerts: [/alert-(\w+)/.exec(text)![1]!] })),
    ];
    for (const [name, second] of acceptedAt) {
      const first = Math.min(...heard.filter(({ alerts }) => alerts.includes(name)).map((one) => one.second));
      expect([name, first - second <= 240]).toEqual([name, true]);
    }
    setGateway(service, "none");
    setEmail(service, "none");
    await minutes(service, 20);
    expect(onPhone(service).toSorted()).toEqual([...acceptedAt.keys()].toSorted());
    expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
  });
});
