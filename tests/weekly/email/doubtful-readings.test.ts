/** The sentences under "Leitura da semana", and what figures they compare. */
import { describe, expect, test } from "bun:test";
import { directionOf } from "../../../lib/weekly/email/figures/figure-meaning.ts";
import { emailView } from "../../../lib/weekly/email/view.ts";
import { senderNote } from "../../../lib/weekly/email/wording.ts";
import type { ChannelName, Payload, PlainChannel } from "../../../lib/weekly/payload.ts";
import {
  available,
  EMAIL_METRICS,
  EMAIL_METRICS_BEFORE,
  emailOf,
  payloadOf,
} from "../../fixtures/payloads.ts";

const view = (channels: Partial<Payload["channels"]>) =>
  emailView(payloadOf({ channels }), { appBaseUrl: "https://app.example.com" });

/** The same after a report in which the data of these channels was partial. */
const viewAfter = (previousPartialChannels: ChannelName[], channels: Partial<Payload["channels"]>) =>
  emailView(payloadOf({ channels, since: { previousPartialChannels } }), {
    appBaseUrl: "https://app.example.com",
  });

const compared = (
  now: PlainChannel["metrics"],
  previous: PlainChannel["metrics"],
  rest: Partial<PlainChannel> = {},
) => ({ ...available(now, [], rest), previous });

describe("the changes of the week", () => {
  const texts = (instagram: PlainChannel, linkedin?: PlainChannel) =>
    view({ instagram, ...(linkedin ? { linkedin } : {}) }).highlights.map(({ text }) => text);

  test("are not told of a network whose data is not complete", () => {
    const rest = { coverageStatus: "partial", reason: "Só três dias lidos" } as const;
    expect(texts(compared({ reach: 100 }, { reach: 900 }))).toEqual([
      "Alcance no Instagram: de 900 para 100",
    ]);
    expect(texts(compared({ reach: 100 }, { reach: 900 }, rest))).toEqual([]);
  });

  test("are not told of a network whose data was not complete the week before, nor in colour in its card", () => {
    const channels = { instagram: compared({ reach: 900 }, { reach: 100 }) };
    const [whole, half] = [viewAfter([], channels), viewAfter(["instagram", "email"], channels)];
    expect(whole.highlights.map(({ title }) => title)).toEqual(["O que mais melhorou"]);
    expect(half.highlights).toEqual([]);
    expect([whole, half].map(({ cards }) => cards[1]!.main[0]!.change)).toMatchObject([
      { text: "800 a mais", tone: "good" },
      { text: "800 a mais", tone: "plain" },
    ]);
    expect([whole, half].map(({ cards }) => cards[1]!.comparison)).toEqual([
      null,
      "Compare com cuidado: os dados da semana anterior estavam incompletos.",
    ]);
  });

  test("are without a colour in the card of a network whose data is not complete", () => {
    const rest = { coverageStatus: "partial", reason: null } as const;
    const [card] = view({ instagram: compared({ reach: 100 }, { reach: 900 }, rest) }).cards.slice(1);
    expect(card!.main[0]!.change).toMatchObject({ text: "800 a menos", tone: "plain" });
  });

  test("of e-mails keep their meaning where some sends of either week are not known: rates leave them out", () => {
    const rest = { coverageStatus: "partial", reason: "events_incomplete" } as const;
    const email = compared({ sends: 90, openRate: 0.5 }, { sends: 90, openRate: 0.25 }, rest);
    const { highlights, cards } = viewAfter(["email"], { email });
    expect(highlights).toHaveLength(1);
    expect(cards[0]!.comparison).toBeNull();
  });

  test.each([
    [19, 20, "plain", ["Abertos", "Com clique", "Enviados"]],
    [20, 19, "plain", ["Taxa de abertura", "Taxa de cliques", "Enviados"]],
    [20, 20, "good", ["Taxa de abertura", "Taxa de cliques", "Enviados"]],
  ])("of %p e-mails after %p: a rate is %s news, and in large are %j", (sends, before, tone, large) => {
    const week = (count: number, opened: number) => {
      const reached = { delivered: count, opened, clicked: 1 };
      const rates = { openRate: opened / count, clickRate: 1 / count };
      return { ...EMAIL_METRICS, sends: count, noEvent: 0, ...rates, reached };
    };
    const { cards } = view({ email: { ...emailOf(week(sends, 10)), previous: week(before, 5) } });
    const { main, small } = cards[0]!;
    expect(main.map(({ label }) => label)).toEqual(large);
    expect([...main, ...small].find(({ key }) => key === "open_rate")!.change!.tone).toBe(tone as never);
  });

  test("are not what moved by less than a twentieth", () => {
    expect(texts(compared({ followers: 1_052 }, { followers: 1_000 }))).toEqual([]);
    expect(texts(compared({ followers: 1_053 }, { followers: 1_000 }))).toHaveLength(1);
  });

  test.each([
    [20, 20, 1],
    [19, 20, 0],
    [20, 19, 0],
  ])("are told of %p e-mails after %p: %p of them", (sends, before, count) => {
    const email = compared({ sends, openRate: 0.5 }, { sends: before, openRate: 0.25 });
    expect(view({ email }).highlights).toHaveLength(count);
  });

  test("are not a rate's first tenth of a per cent, but a reach that grew by a third", () => {
    const instagram = compared({ ctr: 0.001 }, { ctr: 0 });
    const linkedin = compared({ reach: 1_200 }, { reach: 900 });
    expect(texts(instagram, linkedin)).toEqual(["Alcance no LinkedIn: de 900 para 1.200"]);
  });
});

describe("the largest change", () => {
  const OPENS = [
    { sends: 900, openRate: 0.443 },
    { sends: 900, openRate: 0.611 },
  ] as const;
  const first = (channels: Partial<Payload["channels"]>) => view(channels).highlights[0]?.text;

  test("is a reach that fell by two thirds, or opens that fell by 17 points, and not a small rate's tenfold", () => {
    const email = compared(...OPENS);
    const linkedin = compared({ ctr: 0.02 }, { ctr: 0.002 });
    const instagram = compared({ reach: 58_210 }, { reach: 184_310 });
    expect(first({ email, instagram, linkedin })).toBe("Alcance no Instagram: de 184.310 para 58.210");
    expect(first({ email, linkedin })).toBe("Taxa de abertura dos e-mails: de 61,1% para 44,3%");
    expect(first({ linkedin })).toBe("Taxa de cliques no LinkedIn: de 0,2% para 2,0%");
  });

  test.each([
    [0.03, 0.02, true],
    [0.0294, 0.0204, false],
    [0.3, 0.29, false],
    [0.3, 0.28, true],
  ])("may be a rate of %p after %p: %p", (now, before, isTold) => {
    expect(first({ linkedin: compared({ ctr: now }, { ctr: before }) }) !== undefined).toBe(isTold);
  });
});

describe("the clicks of opened e-mails", () => {
  test.each([
    [1, "Dos 40 e-mails abertos, 1 teve clique: 2,5%"],
    [2, "Dos 40 e-mails abertos, 2 tiveram clique: 5,0%"],
  ])("are told of %p", (clicked, text) => {
    const email = emailOf({ ...EMAIL_METRICS, reached: { delivered: 90, opened: 40, clicked } });
    expect(view({ email }).readings.groups[0]!.items).toContain(text);
  });

  test.each([
    [20, true],
    [19, false],
  ])("are told of %p opened ones: %p", (opened, isTold) => {
    const email = emailOf({ ...EMAIL_METRICS, reached: { delivered: 90, opened, clicked: 5 } });
    const items = view({ email }).readings.groups.flatMap((group) => group.items);
    expect(items.some((text) => text.includes("e-mails abertos, 5 tiveram"))).toBe(isTold);
  });
});

test("rates of e-mails are not compared with those of a report that did not know what was reached", () => {
  const email = { ...emailOf(EMAIL_METRICS), previous: { ...EMAIL_METRICS_BEFORE, openRate: 0.1 } };
  const { cards, highlights } = view({ email });
  const changes = [...cards[0]!.main, ...cards[0]!.small].map(({ key, change }) => [key, change?.text]);
  expect(Object.fromEntries(changes)).toMatchObject({
    open_rate: "sem comparação",
    click_rate: "sem comparação",
    delivery_rate: "sem comparação",
    bounce_rate: "sem comparação",
    reached_opened: "sem comparação",
    sends: "igual",
    bounced: "igual",
  });
  expect(highlights).toEqual([]);
});

test("directionOf() knows what trouble with e-mails means, and nothing of a network's figure of that name", () => {
  expect(directionOf("email", "failed")).toBe("less_is_better");
  expect(directionOf("instagram", "failed")).toBe("neutral");
  expect(directionOf("instagram", "followers_lost")).toBe("less_is_better");
});

test("senderNote() ends with one stop, whatever the name ends with", () => {
  for (const [name, end] of [
    ["Padaria S.A.", "conta Padaria S.A."],
    ["Padaria", "conta Padaria."],
    [null, "por uma conta."],
  ] as const)
    expect(senderNote("app.example.com", name).endsWith(end)).toBe(true);
});
