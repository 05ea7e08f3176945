import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { singleLine } from "../../../lib/text/single-line.ts";
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { available, HOSTILE, PAYLOADS, payloadOf, unavailable } from "../../fixtures/payloads.ts";
import { hostilePayloads } from "../support/hostile-payloads.ts";
import { htmlTree, visibleText } from "../support/html-tree.ts";

const OPTIONS = { appBaseUrl: "https://app.example.com" };
const LINK = "https://app.example.com/app/performance?week=2026-11-16";
const NO_SCORE = "Ainda não há histórico suficiente para o score geral";

const render = (payload: Payload) => renderEmail(payload, OPTIONS);
const occurrences = (text: string, part: string) => text.split(part).length - 1;

describe("renderEmail()", () => {
  test.each([
    ["full", "Seu desempenho semanal — 16/11 a 22/11"],
    ["year-boundary", "Seu desempenho semanal — 29/12 a 04/01"],
  ])("has the subject of the report %s", (name, subject) => {
    expect(render(PAYLOADS[name]!).subject).toBe(subject);
  });

  describe.each(Object.keys(PAYLOADS))("the e-mail of the report %s", (name) => {
    const { subject, html, text } = render(PAYLOADS[name]!);

    test("is well-formed, has no script and fetches nothing", () => {
      expect(() => htmlTree(html)).not.toThrow();
      expect(html).not.toMatch(
        /<(script|img|link|iframe|object|form|input)\b|src=|url\(|@import|\son[a-z]+=/i,
      );
      expect(html).not.toContain("[object");
      expect(html).not.toContain("undefined");
      expect(html).not.toContain("NaN");
    });

    test("says in both parts what it must say", () => {
      const visible = visibleText(html);
      for (const part of [visible, text]) {
        for (const heading of ["Leitura da semana", "Seus canais", "Próximos passos"])
          expect(part).toContain(heading);
        for (const channel of ["E-mail", "Instagram", "LinkedIn", "Blog", "TikTok"])
          expect(part).toContain(channel);
      }
      expect(html).toContain(`<title>${subject}</title>`);
      expect(html.match(/class="card /g)).toHaveLength(5);
    });

    test("has the phone's, the dark scheme's and the reader's needs in it", () => {
      expect(html).toContain('<html lang="pt-BR"');
      expect(html).toContain('name="viewport"');
      expect(html).toContain('name="color-scheme" content="light dark"');
      expect(html).toContain("@media (prefers-color-scheme:dark)");
      expect(html).toContain("max-width:600px");
    });
  });

  test("leads to the same report as the WhatsApp message, in both parts", () => {
    const { html, text } = render(PAYLOADS.full!);
    expect(html).toContain(`<a href="${LINK}"`);
    expect(text.split("\n")).toContain(LINK);
  });

  test.each([
    [73, 68, "Score geral: 73/100", "5 pontos a mais que na semana anterior (68/100)"],
    [72.5, 72.4, "Score geral: 73/100", "1 ponto a mais que na semana anterior (72/100)"],
    [40, 100, "Score geral: 40/100", "60 pontos a menos que na semana anterior (100/100)"],
    [0, 0, "Score geral: 0/100", "Igual à semana anterior (0/100)"],
    [0, null, "Score geral: 0/100", "Sem score da semana anterior para comparar"],
  ])("shows the score %p after %p", (score, previousScore, line, change) => {
    const { html, text } = render(payloadOf({ score, previousScore }));
    expect(text.split("\n")).toContain(line);
    expect(text.split("\n")).toContain(change);
    expect(visibleText(html)).toContain(`${line}. ${change}`);
    expect(html).toContain(change);
    expect(html).not.toContain(NO_SCORE);
  });

  test("says that there is no history instead of drawing a zero", () => {
    const { html, text } = render(payloadOf({ score: null, previousScore: 61 }));
    expect(text.split("\n")).toContain(NO_SCORE);
    expect(html).toContain(`>${NO_SCORE}</p>`);
    expect(html).not.toContain('role="img"');
    expect(html + text).not.toContain("/100");
  });

  test("shows rates as percentages, zero as zero and absence as no data", () => {
    const metrics = { sends: 10, opened: 0, clicked: null, openRate: 0.425, bounceRate: null };
    const { html, text } = render(payloadOf({ channels: { email: available(metrics, []) } }));
    const lines = ["- Taxa de abertura: 42,5%", "- Enviados: 10", "- Abertos, sem clique: 0"];
    const absent = "Sem dado: Taxa de devolução e Com clique";
    for (const line of [...lines, absent]) expect(text.split("\n")).toContain(line);
    expect(html).toContain(">42,5%</p>");
    expect(html).toContain(`>${absent}</p>`);
  });

  test.each([
    [
      "email",
      unavailable("no_sends_in_window"),
      "Não registramos nenhum e-mail enviado por você nesta semana.",
    ],
    ["instagram", unavailable("not_connected"), "Nenhuma conta do Instagram está conectada."],
    [
      "linkedin",
      unavailable("APP_HTTP_502"),
      "Não conseguimos ler os dados do LinkedIn nesta semana; você não precisa fazer nada.",
    ],
    ["blog", unavailable("not_integrated"), "Ainda sem integração"],
    ["linkedin", unavailable("Perfil sem posts"), "Motivo informado pela análise: Perfil sem posts"],
  ] as const)("says plainly that %s has no data, and why", (name, channel, why) => {
    const { html, text } = render(payloadOf({ channels: { [name]: channel } }));
    expect(text.toLowerCase()).toContain(why.toLowerCase());
    expect(visibleText(html)).toContain(why);
  });

  test("says a name alone of a channel without an integration that contradicts itself", () => {
    const blog = { ...available({ posts: 1 }, []), status: "unavailable", reason: "not_integrated" } as const;
    const { html, text } = render(payloadOf({ channels: { blog } }));
    expect(text.split("\n")).toContain("Blog");
    expect(text).not.toContain("undefined");
    expect(html).not.toContain("></p>");
  });

  test("names what is only partly covered", () => {
    const instagram = available({ reach: 5 }, [], { coverageStatus: "partial", reason: "APP_TIMEOUT" });
    const { html, text } = render(payloadOf({ channels: { instagram } }));
    for (const part of [visibleText(html), text]) {
      expect(part).toContain(
        "Cobertura parcial. Dados incompletos: Instagram. Sem dados: E-mail, LinkedIn, Blog e TikTok.",
      );
      expect(part).toContain("Uma das contas do Instagram ficou sem análise nesta semana");
    }
    expect(html).toContain(">Dados parciais</span>");
    expect(text).toContain("Instagram (dados parciais)");
  });

  test("shows every text of the payload once, as text", () => {
    const mark = (place: string) => `${place}"><script>alert(1)</script>&'`;
    const payload = {
      ...payloadOf({
        channels: {
          email: available({ [mark("m")]: 1 }, [mark("i")]),
          instagram: available({ reach: 1 }, [], { coverageStatus: "partial", reason: mark("r") }),
          linkedin: unavailable(mark("u")),
        },
      }),
      activationActions: [{ code: "x", channel: "email" as const, label: mark("a"), path: "/app/email" }],
    };
    const { html, text } = render(payload);
    const visible = visibleText(html);
    for (const place of ["M", "i", "r", "u", "a"]) {
      expect(occurrences(visible, mark(place))).toBe(1);
      expect(occurrences(text, mark(place))).toBe(1);
    }
    expect(html).not.toContain("<script");
  });

  test("links a step only where its path stays in the application", () => {
    const paths = [
      "/app/email",
      "//evil.example",
      "javascript:alert(1)",
      '/"onclick="x',
      "https://evil.example",
      "/a b",
      "",
    ];
    const activationActions = paths
      .slice(0, 5)
      .map((path) => ({ code: "x", channel: "email" as const, label: "Passo", path }));
    const { html, text } = render({ ...payloadOf({}), activationActions });
    const targets = [...html.matchAll(/href="([^"]*)"/g)].map(([, target]) => target);
    expect(targets).toEqual([LINK, "https://app.example.com/app/email", LINK]);
    expect(text).not.toMatch(/evil|javascript/);
  });

  test("keeps the plain part free of faked lines", () => {
    const { text } = render(payloadOf({ channels: { email: available({ sends: 1 }, [HOSTILE]) } }));
    expect(text).toContain(`- ${singleLine(HOSTILE)}\n`);
    expect(text.split("\n")).not.toContain("Score geral: 100/100");
  });

  test("is well-formed and the same each time, whatever the payload contains", () => {
    fc.assert(
      fc.property(hostilePayloads, (payload) => {
        const { html, text } = render(payload);
        expect(() => htmlTree(html)).not.toThrow();
        expect(html.isWellFormed() && text.isWellFormed()).toBe(true);
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
        expect(render(payload)).toMatchObject({ html, text });
      }),
      { numRuns: 200 },
    );
  });
});
