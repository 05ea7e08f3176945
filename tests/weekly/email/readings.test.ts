import { describe, expect, test } from "bun:test";
import { readingsView, sentenceKey } from "../../../lib/weekly/email/readings.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import {
  available,
  EMAIL_METRICS,
  EMAIL_WITHOUT_EVENTS,
  emailOf,
  payloadOf,
} from "../../fixtures/payloads.ts";

const readings = (channels: Partial<Payload["channels"]>, said: string[] = []) =>
  readingsView(payloadOf({ channels }).channels, said, 4);

describe("readingsView()", () => {
  test("leaves out what only repeats the rates of the card, and says what it does not", () => {
    expect(readings({ email: emailOf(EMAIL_METRICS) }).groups).toEqual([
      {
        channel: "E-mail",
        items: ["Dos 536 e-mails abertos, 141 tiveram clique: 26,3%", "1 e-mail seu foi marcado como spam"],
      },
    ]);
  });

  test("says what repeats the card where nothing else is left", () => {
    const quiet = {
      ...EMAIL_METRICS,
      complained: 0,
      reached: { delivered: 9, opened: 5, clicked: 0 },
      clickRate: 0,
    };
    const { groups } = readings({ email: emailOf(quiet) });
    expect(groups[0]!.items.join()).toContain("foram abertos");
    expect(readings({ email: emailOf(quiet) }, ["Outra leitura"]).groups).toEqual([]);
  });

  test("keeps a finding about e-mails that no card says", () => {
    expect(readings({ email: emailOf(EMAIL_WITHOUT_EVENTS) }).groups[0]!.items).toEqual([
      "Você enviou 12 e-mails; ainda não há informação de entrega",
    ]);
  });

  test("says a sentence of two networks once, under both names", () => {
    const { groups } = readings({
      instagram: available({}, ["Terça foi o melhor dia", "Só aqui"]),
      linkedin: available({}, ["terça foi o melhor dia.", "Só lá", "só  LÁ!"]),
    });
    expect(groups).toEqual([
      { channel: "Instagram e LinkedIn", items: ["Terça foi o melhor dia"] },
      { channel: "Instagram", items: ["Só aqui"] },
      { channel: "LinkedIn", items: ["Só lá"] },
    ]);
  });

  test("shows four of a channel and counts the others", () => {
    const { groups, more } = readings({ instagram: available({}, ["a", "b", "c", "d", "e", "f"]) });
    expect(groups[0]!.items).toEqual(["a", "b", "c", "d"]);
    expect(more).toBe(2);
  });
});

describe("sentenceKey()", () => {
  test.each([
    ["Três dias!", "tres dias", true],
    ["subiu 1,5%", "subiu 15%", false],
    ["subiu 5%", "subiu −5%", false],
    ["subiu 5%", "subiu 5", false],
    ["!?", "?!", false],
  ])("takes %p and %p for the same: %p", (a, b, same) => {
    expect(sentenceKey(a) === sentenceKey(b)).toBe(same);
  });
});
