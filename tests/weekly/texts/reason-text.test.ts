import { describe, expect, test } from "bun:test";
import { partialText, reasonText } from "../../../lib/weekly/texts/reason-text.ts";

const OURS = "Não conseguimos ler os dados do LinkedIn nesta semana; você não precisa fazer nada.";

describe("reasonText()", () => {
  test.each([
    ["not_connected", "Nenhuma conta do LinkedIn está conectada."],
    ["analysis_missing", "A análise do LinkedIn não ficou pronta para esta semana."],
    ["analysis_unavailable", "A análise do LinkedIn não encontrou dados suficientes nesta semana."],
    ["analysis_malformed", OURS],
    ["social_left_out", OURS],
    ["collection_lease_exhausted", OURS],
    ["APP_HTTP_404", OURS],
    ["APP_HTTP_401", OURS],
    ["APP_TIMEOUT", OURS],
    ["APP_UNREACHABLE", OURS],
    ["APP_ANSWER_INVALID", OURS],
    ["token_expired", "A análise do LinkedIn não trouxe dados nesta semana (código: token_expired)."],
    ["hasOwnProperty", "A análise do LinkedIn não trouxe dados nesta semana (código: hasOwnProperty)."],
    ["Perfil privado.", "Motivo informado pela análise: Perfil privado."],
    ["\u202E \n", "A análise do LinkedIn não trouxe dados nesta semana."],
    ["", "A análise do LinkedIn não trouxe dados nesta semana."],
  ])("words %p", (reason, text) => {
    expect(reasonText("linkedin", reason)).toBe(text);
  });

  test("is bounded", () => {
    expect(reasonText("linkedin", "muito longo ".repeat(1000)).length).toBeLessThan(220);
  });
});

test("a week without e-mails is one without the owner's own e-mails: colleagues may have sent some", () => {
  expect(reasonText("email", "no_sends_in_window")).toBe(
    "Não registramos nenhum e-mail enviado por você nesta semana.",
  );
});

describe("partialText()", () => {
  test.each([
    ["email", "no_events_in_window", "Os seus envios desta semana ainda não têm informação de entrega."],
    ["instagram", null, "Os dados deste canal estão incompletos nesta semana."],
    [
      "instagram",
      "analysis_missing",
      "Uma das contas do Instagram ficou sem análise nesta semana; os números são de outra.",
    ],
    [
      "instagram",
      "APP_ANSWER_INVALID",
      "Uma das contas do Instagram ficou sem análise nesta semana; os números são de outra.",
    ],
    ["instagram", "stale", "Os dados deste canal estão incompletos nesta semana (código: stale)."],
    ["instagram", " ", "Os dados deste canal estão incompletos nesta semana."],
    ["instagram", "Faltam dois dias", "Motivo informado pela análise: Faltam dois dias"],
  ] as const)("words what is incomplete about %s: %p", (channel, reason, text) => {
    expect(partialText(channel, { reason, metrics: {} })).toBe(text);
  });

  test.each([
    [
      { sends: 1250, noEvent: 39, deliveryRate: 0.9653 },
      "Dos seus 1.250 envios desta semana, 39 não têm informação de entrega e ficam fora das taxas.",
    ],
    [
      { sends: 2, noEvent: 1, deliveryRate: 1 },
      "Dos seus 2 envios desta semana, 1 não tem informação de entrega e fica fora das taxas.",
    ],
    [
      { sends: 12, noEvent: 8, deliveryRate: null },
      "Dos seus 12 envios desta semana, 8 não têm informação de entrega: por isso não há taxas.",
    ],
    [{}, "Uma parte dos seus envios desta semana não tem informação de entrega."],
  ])("says how many e-mails are left out: %j", (metrics, text) => {
    expect(partialText("email", { reason: "events_incomplete", metrics })).toBe(text);
  });
});
