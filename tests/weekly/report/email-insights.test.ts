import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type EmailMetrics, emailInsights } from "../../../lib/weekly/report/email-insights.ts";
import { EMAIL_METRICS, EMAIL_WITHOUT_EVENTS } from "../../fixtures/payloads.ts";

const texts = (metrics: EmailMetrics) => emailInsights(metrics).map(({ text }) => text);
const withFigures = (figures: Partial<EmailMetrics>): EmailMetrics => ({ ...EMAIL_METRICS, ...figures });

describe("emailInsights()", () => {
  test("of an ordinary week, most important first", () => {
    expect(texts(EMAIL_METRICS)).toEqual([
      "42,2% dos 1.250 e-mails enviados foram abertos",
      "11% dos e-mails receberam ao menos um clique",
      "93,5% dos e-mails tiveram entrega confirmada",
      "1 pessoa marcou um e-mail seu como spam",
    ]);
  });

  test("names what harms the sender first", () => {
    const [bounces, complaints] = texts(
      withFigures({ sends: 50, bounced: 4, bounceRate: 0.08, complained: 2 }),
    );
    expect(bounces).toBe("4 de 50 e-mails voltaram (8%); vale revisar os endereços da lista");
    expect(complaints).toBe("2 pessoas marcaram um e-mail seu como spam");
    expect(texts(withFigures({ sends: 20, bounced: 1, bounceRate: 0.05 }))[0]).toStartWith(
      "1 de 20 e-mails voltou (5%)",
    );
  });

  test.each([
    [1, "1 e-mail enviado; ainda sem eventos registrados"],
    [12, "12 e-mails enviados; ainda sem eventos registrados"],
  ])("claims nothing about %p sends without events", (sends, text) => {
    expect(texts({ ...EMAIL_WITHOUT_EVENTS, sends })).toEqual([text]);
  });

  test.each([[0], [null]])("has nothing to say about %p sends", (sends) => {
    expect(emailInsights({ ...EMAIL_WITHOUT_EVENTS, sends })).toEqual([]);
  });

  test.each([
    [{ openRate: 0 }, "Nenhuma abertura registrada nos 1.250 e-mails enviados"],
    [{ openRate: 1 }, "Todos os 1.250 e-mails enviados foram abertos"],
    [{ openRate: 1, sends: 1, complained: 0 }, "O e-mail enviado foi aberto"],
    [{ openRate: 0, sends: 1, complained: 0 }, "O e-mail enviado ainda não foi aberto"],
  ])("words %p as %s", (figures, text) => {
    expect(texts(withFigures(figures))[0]).toBe(text);
  });

  test("says nothing about a figure that is not there", () => {
    const unknown = Object.fromEntries(Object.keys(EMAIL_METRICS).map((key) => [key, null])) as EmailMetrics;
    fc.assert(
      fc.property(fc.subarray(Object.keys(EMAIL_METRICS) as (keyof EmailMetrics)[]), (known) => {
        const metrics = { ...unknown, ...Object.fromEntries(known.map((key) => [key, EMAIL_METRICS[key]])) };
        for (const { metric, text } of emailInsights(metrics)) {
          expect(known).toContain(metric as keyof EmailMetrics);
          expect(text).not.toMatch(/null|NaN|undefined/);
        }
      }),
    );
  });
});
