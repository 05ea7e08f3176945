import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderWhatsappText } from "../../../lib/weekly/texts/whatsapp-text.ts";
import { available, HOSTILE, PAYLOADS, payloadOf, unavailable } from "../../fixtures/payloads.ts";
import { hostilePayloads } from "../support/hostile-payloads.ts";

const OPTIONS = { appBaseUrl: "https://app.example.com" };
const LINK = "https://app.example.com/app/performance?week=2026-11-16";

const render = (payload: Parameters<typeof renderWhatsappText>[0]) => renderWhatsappText(payload, OPTIONS)!;
const bullets = (text: string) => text.split("\n").filter((line) => line.startsWith("• "));

describe("renderWhatsappText()", () => {
  test("says period, score, two insights and the link, in this order", () => {
    const channels = {
      email: available({ sends: 1 }, ["Um do e-mail", "Dois do e-mail"]),
      instagram: available({ reach: 1 }, ["Um do Instagram"]),
      linkedin: available({ reach: 1 }, ["Um do LinkedIn"]),
    };
    expect(render(payloadOf({ score: 72.5, channels })).split("\n")).toEqual([
      "*Seu desempenho semanal*",
      "16/11 a 22/11",
      "",
      "Score geral: 73/100",
      "",
      "• E-mail: Um do e-mail",
      "• Instagram: Um do Instagram",
      "",
      "Veja o relatório completo:",
      LINK,
    ]);
  });

  test.each([
    [0, "Score geral: 0/100"],
    [0.4, "Score geral: 0/100"],
    [0.5, "Score geral: 1/100"],
    [99.5, "Score geral: 100/100"],
    [100, "Score geral: 100/100"],
    [null, "Ainda não há histórico suficiente para o score geral"],
  ])("says of the score %p: %s", (score, line) => {
    expect(render(payloadOf({ score })).split("\n")).toContain(line);
  });

  test("takes a second insight of the only channel that has one", () => {
    const text = render(payloadOf({ channels: { linkedin: available({}, ["Um", "Dois", "Três"]) } }));
    expect(bullets(text)).toEqual(["• LinkedIn: Um", "• LinkedIn: Dois"]);
  });

  test("names the activation actions, whole and as they are, where no channel has an insight", () => {
    const payload = payloadOf({ channels: { instagram: available({ reach: 3 }, ["", "\u200B"]) } });
    expect(bullets(render(payload))).toEqual(payload.activationActions.map(({ label }) => `• ${label}`));
  });

  test("shows no action beside an insight, and no insight of a channel that is unavailable", () => {
    const instagram = { ...unavailable("APP_TIMEOUT"), insights: [{ code: "old", text: "Antigo" }] };
    const text = render(payloadOf({ channels: { instagram, linkedin: available({}, ["Um"]) } }));
    expect(bullets(text)).toEqual(["• LinkedIn: Um"]);
  });

  test("shortens long insights alike, and leaves the short one whole", () => {
    const [long, short] = ["longo ".repeat(400), "Curto e inteiro"];
    const both = render(
      payloadOf({ channels: { email: available({}, [long]), instagram: available({}, [long]) } }),
    );
    const [first, second] = bullets(both);
    expect(first).toMatch(/^• E-mail: (longo )+longo…$/);
    expect(second).toMatch(/^• Instagram: (longo )+longo…$/);
    expect(Math.abs(first!.length - second!.length)).toBeLessThan(12);
    expect(both.length).toBeGreaterThan(870);

    const one = render(
      payloadOf({ channels: { email: available({}, [long]), instagram: available({}, [short]) } }),
    );
    expect(bullets(one)[1]).toBe(`• Instagram: ${short}`);
    expect(one.length).toBeGreaterThan(870);
  });

  test("drops insights, never the link, when a long base leaves no room", () => {
    const appBaseUrl = `https://app.example.com/${"b".repeat(700)}`;
    const text = renderWhatsappText(PAYLOADS.full!, { appBaseUrl })!;
    expect(text.length).toBeLessThanOrEqual(900);
    expect(text.endsWith(`${appBaseUrl}/app/performance?week=2026-11-16`)).toBe(true);
    expect(bullets(text).length).toBeLessThan(2);
    expect(renderWhatsappText(PAYLOADS.full!, { appBaseUrl: appBaseUrl + "b".repeat(200) })).toBeNull();
  });

  test("tolerates slashes at the end of the base", () => {
    const text = renderWhatsappText(PAYLOADS.full!, { appBaseUrl: "https://example.com/base//" })!;
    expect(text).toContain("https://example.com/base/app/performance?week=2026-11-16");
  });

  test("lets no insight fake a line or a format", () => {
    const [line] = bullets(render(payloadOf({ channels: { email: available({}, [HOSTILE]) } })));
    expect(line).toContain("Score geral: 100/100");
    expect(line).not.toMatch(/[*_~`\u202E]/);
  });

  test("keeps an underscore inside a name", () => {
    expect(render(payloadOf({ channels: { instagram: available({}, ["@maria_silva cresceu"]) } }))).toContain(
      "@maria_silva cresceu",
    );
  });

  test("fits in 900 units and keeps its fixed lines, whatever the payload contains", () => {
    fc.assert(
      fc.property(hostilePayloads, (payload) => {
        const text = render(payload);
        expect(text.length).toBeLessThanOrEqual(900);
        expect(text.isWellFormed()).toBe(true);
        const lines = text.split("\n");
        expect(lines.slice(0, 3)).toEqual(["*Seu desempenho semanal*", "16/11 a 22/11", ""]);
        expect(lines[3]).toMatch(
          /^(Score geral: \d{1,3}\/100|Ainda não há histórico suficiente para o score geral)$/,
        );
        expect(lines.slice(-3)).toEqual(["", "Veja o relatório completo:", LINK]);
        const body = lines.slice(4, -3);
        expect(body.every((line) => /^(• .*|Para ter um relatório mais completo:|)$/u.test(line))).toBe(true);
        if (!body.includes("Para ter um relatório mais completo:"))
          expect(bullets(text).length).toBeLessThanOrEqual(2);
      }),
      { numRuns: 400 },
    );
  });
});
