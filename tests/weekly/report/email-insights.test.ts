import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type EmailMetrics, emailInsights } from "../../../lib/weekly/report/email-insights.ts";
import { EMAIL_FEW_EVENTS, EMAIL_METRICS, EMAIL_WITHOUT_EVENTS } from "../../fixtures/payloads.ts";

const texts = (metrics: EmailMetrics) => emailInsights(metrics).map(({ text }) => text);
const withFigures = (figures: Partial<EmailMetrics>): EmailMetrics => ({ ...EMAIL_METRICS, ...figures });
/** A week of which every send has an event. */
const whole = (sends: number, figures: Partial<EmailMetrics>): EmailMetrics =>
  withFigures({ sends, noEvent: 0, complained: 0, ...figures });
const reached = (delivered: number, opened: number, clicked: number) => ({
  reached: { delivered, opened, clicked },
});

describe("emailInsights()", () => {
  test("of an ordinary week, most important first, and the first one says who is left out", () => {
    expect(texts(EMAIL_METRICS)).toEqual([
      "44,3% dos seus 1.211 e-mails com informação de entrega foram abertos " +
        "(39 sem essa informação ficam fora da conta)",
      "11,6% dos seus 1.211 e-mails com informação de entrega receberam ao menos um clique",
      "96,5% dos seus 1.211 e-mails com informação de entrega foram entregues",
      "1 e-mail seu foi marcado como spam",
    ]);
  });

  test("of a week that is known whole", () => {
    expect(texts(whole(1000, { ...reached(950, 422, 110), complained: 1 }))).toEqual([
      "1 e-mail seu foi marcado como spam",
      "42,2% dos seus 1.000 e-mails foram abertos",
      "11,0% dos seus 1.000 e-mails receberam ao menos um clique",
      "95,0% dos seus 1.000 e-mails foram entregues",
    ]);
  });

  test("names what harms the sender first", () => {
    const [bounces, complaints] = texts(whole(50, { bounced: 4, bounceRate: 0.08, complained: 2 }));
    expect(bounces).toBe("4 dos seus 50 e-mails voltaram (8,0%); vale revisar os endereços da lista");
    expect(complaints).toBe("2 e-mails seus foram marcados como spam");
    expect(texts(whole(20, { bounced: 1, bounceRate: 0.05 }))[0]).toStartWith(
      "1 dos seus 20 e-mails voltou (5,0%)",
    );
  });

  test("judges complaints by the sends that are known", () => {
    const figures = { ...reached(900, 400, 100), complained: 1 };
    expect(texts({ ...whole(1001, figures) })[0]).toContain("foram abertos");
    expect(texts({ ...whole(1001, figures), noEvent: 1 })[0]).toContain("spam");
  });

  test.each([
    [1, "Você enviou 1 e-mail; ainda não há informação de entrega"],
    [12, "Você enviou 12 e-mails; ainda não há informação de entrega"],
  ])("claims nothing about %p sends without events", (sends, text) => {
    expect(texts({ ...EMAIL_WITHOUT_EVENTS, sends })).toEqual([text]);
  });

  test("gives no rate when fewer than half of the sends are known, and says why", () => {
    expect(texts(EMAIL_FEW_EVENTS)).toEqual([
      "Só 4 dos seus 12 e-mails têm informação de entrega: é pouco para calcular taxas",
      "1 e-mail seu foi marcado como spam",
    ]);
    const one = { ...EMAIL_FEW_EVENTS, sends: 3, noEvent: 2, complained: 0 };
    expect(texts(one)).toEqual([
      "Só 1 dos seus 3 e-mails tem informação de entrega: é pouco para calcular taxas",
    ]);
  });

  test.each([[0], [null]])("has nothing to say about %p sends", (sends) => {
    expect(emailInsights({ ...EMAIL_WITHOUT_EVENTS, sends })).toEqual([]);
  });

  test.each([
    [whole(1250, reached(1250, 0, 0)), "Nenhuma abertura registrada nos seus 1.250 e-mails"],
    [whole(1250, reached(1250, 1250, 0)), "Todos os seus 1.250 e-mails foram abertos"],
    [whole(1, reached(1, 1, 0)), "Seu e-mail foi aberto"],
    [whole(1, reached(1, 0, 0)), "Nenhuma abertura registrada no seu e-mail"],
    // Of a handful a percentage would say more than there is.
    [whole(19, reached(19, 10, 0)), "10 dos seus 19 e-mails foram abertos"],
    [whole(20, reached(20, 10, 0)), "50,0% dos seus 20 e-mails foram abertos"],
    [whole(2, reached(2, 1, 0)), "1 dos seus 2 e-mails foi aberto"],
    [whole(3, reached(3, 3, 0)), "Todos os seus 3 e-mails foram abertos"],
    [whole(2, reached(2, 2, 0)), "Os seus 2 e-mails foram abertos"],
    [
      whole(1, { bounced: 1, bounceRate: 1, ...reached(0, 0, 0) }),
      "Seu e-mail voltou; vale revisar os endereços da lista",
    ],
    [
      whole(3, { bounced: 1, bounceRate: 0.3333, ...reached(2, 0, 0) }),
      "1 dos seus 3 e-mails voltou; vale revisar os endereços da lista",
    ],
    [
      whole(30, { bounced: 30, bounceRate: 1, ...reached(0, 0, 0) }),
      "Todos os seus 30 e-mails voltaram (100,0%); vale revisar os endereços da lista",
    ],
    [
      withFigures({ sends: 2, noEvent: 1, complained: 0, ...reached(1, 1, 0) }),
      "Seu único e-mail com informação de entrega foi aberto (1 sem essa informação fica fora da conta)",
    ],
    // One in a million is neither none nor all, however rates are rounded.
    [
      whole(1_000_000, { openRate: 0, ...reached(999_999, 1, 0) }),
      "Menos de 0,1% dos seus 1.000.000 e-mails foram abertos",
    ],
    [
      whole(1_000_000, { openRate: 1, ...reached(999_999, 999_999, 0) }),
      "Mais de 99,9% dos seus 1.000.000 e-mails foram abertos",
    ],
  ])("words %j as %s", (metrics, text) => {
    expect(texts(metrics)[0]).toBe(text);
  });

  test("says nothing about a figure that is not there", () => {
    const unknown = {
      ...Object.fromEntries(Object.keys(EMAIL_METRICS).map((key) => [key, null])),
      reached: EMAIL_WITHOUT_EVENTS.reached,
    } as EmailMetrics;
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
