/** What the e-mail says under "Leitura da semana": the largest changes, and the findings of each channel. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Payload, PlainChannel } from "../../../lib/weekly/payload.ts";
import { available, EMAIL_FINDINGS, EMAIL_METRICS, emailOf, payloadOf } from "../../fixtures/payloads.ts";
import { showEmail } from "../support/shown-email.ts";

type Channels = Partial<Payload["channels"]>;

const show = (channels: Channels, since: Partial<Payload["provenance"]> = {}) =>
  showEmail(payloadOf({ channels, since }));
const readings = (channels: Channels) => show(channels).readings;
const changes = (channels: Channels) => readings(channels).filter((line) => line.startsWith("O que mais"));

const compared = (
  now: PlainChannel["metrics"],
  previous: PlainChannel["metrics"],
  rest: Partial<PlainChannel> = {},
) => ({ ...available(now, [], rest), previous });

const BETTER = "O que mais melhorou: ";
const WORSE = "O que mais piorou: ";

describe("the largest changes", () => {
  test("are one for the better and one for the worse, the larger first", () => {
    const now = { reach: 150, likes: 95, saves: 10, comments: 40 };
    expect(
      changes({ instagram: compared(now, { reach: 100, likes: 100, saves: 90, comments: 39 }) }),
    ).toEqual([
      `${WORSE}Salvamentos no Instagram: de 90 para 10`,
      `${BETTER}Alcance no Instagram: de 100 para 150`,
    ]);
  });

  test.each<[string, PlainChannel["metrics"], PlainChannel["metrics"]]>([
    ["figures below twenty", { likes: 19 }, { likes: 2 }],
    ["what moved by less than a twentieth", { followers: 1_052 }, { followers: 1_000 }],
    [
      "a figure whose meaning is not known",
      { posts: 300, story_replies: 300 },
      { posts: 20, story_replies: 20 },
    ],
    ["what the week before does not have", { likes: 300 }, { reach: 20 }],
    ["a rate that moved by less than a percentage point", { ctr: 0.0294 }, { ctr: 0.0204 }],
    ["a large rate that hardly moved", { ctr: 0.3 }, { ctr: 0.29 }],
    ["the first tenth of a per cent", { ctr: 0.001 }, { ctr: 0 }],
  ])("leave out %s", (_what, now, previous) => {
    expect(changes({ instagram: compared(now, previous) })).toEqual([]);
  });

  test.each<[PlainChannel["metrics"], PlainChannel["metrics"], string]>([
    [{ followers: 1_053 }, { followers: 1_000 }, "Seguidores no Instagram: de 1.000 para 1.053"],
    [{ ctr: 0.03 }, { ctr: 0.02 }, "Taxa de cliques no Instagram: de 2,0% para 3,0%"],
    [{ ctr: 0.3 }, { ctr: 0.28 }, "Taxa de cliques no Instagram: de 28,0% para 30,0%"],
  ])("include %j after %j", (now, previous, text) => {
    expect(changes({ instagram: compared(now, previous) })).toEqual([BETTER + text]);
  });

  test("are measured by their share of the whole, so that a small rate's tenfold does not win", () => {
    const email = compared({ sends: 900, openRate: 0.443 }, { sends: 900, openRate: 0.611 });
    const linkedin = compared({ ctr: 0.02 }, { ctr: 0.002 });
    const instagram = compared({ reach: 58_210 }, { reach: 184_310 });
    expect(changes({ email, instagram, linkedin })[0]).toBe(
      `${WORSE}Alcance no Instagram: de 184.310 para 58.210`,
    );
    expect(changes({ email, linkedin })[0]).toBe(`${WORSE}Taxa de abertura dos e-mails: de 61,1% para 44,3%`);
    expect(changes({ linkedin })).toEqual([`${BETTER}Taxa de cliques no LinkedIn: de 0,2% para 2,0%`]);
  });

  test.each([
    [20, 20, 1],
    [19, 20, 0],
    [20, 19, 0],
  ])(
    "the largest changes of %p e-mails after %p are %p: only rates, of twenty at least in both weeks",
    (sends, before, count) => {
      const now = { sends, openRate: 0.5, bounced: 0 };
      const email = compared(now, { sends: before, openRate: 0.25, bounced: 2_000 });
      expect(changes({ email })).toHaveLength(count);
      expect(show({ email }).toneOf("25,0 p.p. a mais")).toBe(count === 1 ? "good" : "muted");
    },
  );
});

describe("a network with partial data", () => {
  const instagram = compared({ reach: 900 }, { reach: 100 });

  test("has no largest change and no colour in its card", () => {
    const whole = show({ instagram });
    expect([whole.readings[0], whole.toneOf("800 a mais")]).toEqual([
      `${BETTER}Alcance no Instagram: de 100 para 900`,
      "good",
    ]);
    const half = show({
      instagram: { ...instagram, coverageStatus: "partial", reason: "Só três dias lidos" },
    });
    expect([half.readings.join().includes("O que mais"), half.toneOf("800 a mais")]).toEqual([
      false,
      "muted",
    ]);
  });

  test("the week before has no largest change and no colour either", () => {
    const half = show({ instagram }, { previousPartialChannels: ["instagram", "email"] });
    expect([half.readings.join().includes("O que mais"), half.toneOf("800 a mais")]).toEqual([
      false,
      "muted",
    ]);
  });

  test("is no e-mail: rates leave out the sends that are not known", () => {
    const rest = { coverageStatus: "partial", reason: "events_incomplete" } as const;
    const email = compared({ sends: 90, openRate: 0.5 }, { sends: 90, openRate: 0.25 }, rest);
    const { readings: shown, card } = show({ email }, { previousPartialChannels: ["email"] });
    expect(shown[0]).toStartWith(BETTER);
    expect(card("E-mail").join()).not.toContain("Compare com cuidado");
  });
});

describe("the findings", () => {
  test("leave out what only repeats the rates of the card, and say what it does not", () => {
    expect(readings({ email: emailOf(EMAIL_METRICS, { insights: EMAIL_FINDINGS }) })).toEqual([
      "E-mail",
      "- Dos 536 e-mails abertos, 141 tiveram clique: 26,3%",
      "- 1 e-mail seu foi marcado como spam",
    ]);
  });

  test("repeat the card where nothing else is left", () => {
    const reached = { delivered: 9, opened: 5, clicked: 0 };
    const insights = EMAIL_FINDINGS.slice(0, 1);
    const email = emailOf({ ...EMAIL_METRICS, reached }, { insights });
    expect(readings({ email })).toEqual(["E-mail", `- ${insights[0]!.text}`]);
    expect(readings({ email, instagram: available({}, ["Outra"]) })).toEqual(["Instagram", "- Outra"]);
    expect(readings({ email, instagram: compared({ reach: 900 }, { reach: 100 }) })).toHaveLength(1);
  });

  test("keep one about e-mails whose rate no card shows", () => {
    const email = emailOf({ ...EMAIL_METRICS, openRate: null }, { insights: EMAIL_FINDINGS.slice(0, 1) });
    expect(readings({ email })).toEqual(["E-mail", `- ${EMAIL_FINDINGS[0]!.text}`]);
  });

  test.each([
    [40, 1, "Dos 40 e-mails abertos, 1 teve clique: 2,5%"],
    [40, 2, "Dos 40 e-mails abertos, 2 tiveram clique: 5,0%"],
    [20, 5, "Dos 20 e-mails abertos, 5 tiveram clique: 25,0%"],
    [19, 5, undefined],
    [40, 0, undefined],
  ])("say of %p opened e-mails with %p clicked: %p", (opened, clicked, text) => {
    const reached = { delivered: 90, opened, clicked };
    const email = emailOf({ ...EMAIL_METRICS, reached }, { insights: EMAIL_FINDINGS });
    const found = readings({ email }).find((line) => line.includes("e-mails abertos,"));
    expect(found).toBe(text === undefined ? undefined : `- ${text}`);
  });

  test("say a sentence of two networks once, under both names", () => {
    const instagram = available({}, ["Terça foi o melhor dia", "Só aqui"]);
    const linkedin = available({}, ["terça foi o melhor dia.", "Só lá", "só  LÁ!"]);
    expect(readings({ instagram, linkedin })).toEqual([
      ...["Instagram e LinkedIn", "- Terça foi o melhor dia"],
      ...["Instagram", "- Só aqui"],
      ...["LinkedIn", "- Só lá"],
    ]);
  });

  test("leave out a sentence that is the largest change already", () => {
    const finding = "Alcance no Instagram: de 100 para 900.";
    const instagram = { ...available({ reach: 900 }, [finding]), previous: { reach: 100 } };
    expect(readings({ instagram })).toEqual([`${BETTER}Alcance no Instagram: de 100 para 900`]);
  });

  test("are four of a channel; the others are counted", () => {
    const instagram = available({}, ["a", "b", "c", "d", "e", "f"]);
    expect(readings({ instagram })).toEqual([
      ...["Instagram", "- a", "- b", "- c", "- d"],
      "e mais 2 destaques no relatório completo",
    ]);
  });

  test.each([
    ["Três dias!", "tres dias", true],
    ["subiu 1,5%", "subiu 15%", false],
    ["subiu 5%", "subiu −5%", false],
    ["subiu 5%", "subiu 5", false],
    ["!?", "?!", false],
  ])("are the same sentence, %p and %p: %p", (one, other, isSame) => {
    expect(readings({ instagram: available({}, [one, other]) })).toHaveLength(isSame ? 2 : 3);
  });

  test("say no sentence twice, whatever the analyses found", () => {
    const words = fc.constantFrom("Terça foi o melhor dia", "O alcance subiu", "Nova conta");
    const spelling = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.toUpperCase(),
      (text) => `${text}.`,
      (text) => text.replaceAll(" ", "  "),
    );
    const finding = fc.tuple(words, spelling).map(([text, spell]) => spell(text));
    const findings = fc.array(finding, { maxLength: 6 });
    fc.assert(
      fc.property(findings, findings, findings, (...texts) => {
        const [instagram, linkedin, blog] = texts.map((each) => available({}, each)) as [
          PlainChannel,
          PlainChannel,
          PlainChannel,
        ];
        const said = readings({ instagram, linkedin, blog }).filter((line) => line.startsWith("- "));
        const plain = said.map((line) =>
          line
            .toLowerCase()
            .match(/\p{L}+/gu)!
            .join(" "),
        );
        expect(new Set(plain).size).toBe(plain.length);
        const found = texts.flat().map((text) =>
          text
            .toLowerCase()
            .match(/\p{L}+/gu)!
            .join(" "),
        );
        expect(plain.toSorted()).toEqual([...new Set(found)].toSorted());
      }),
    );
  });
});

test("an e-mail without findings says so", () => {
  expect(readings({ email: emailOf(EMAIL_METRICS) })).toEqual([
    "Nenhum canal trouxe destaques nesta semana.",
  ]);
});
