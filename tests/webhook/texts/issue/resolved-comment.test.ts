import { expect, test } from "bun:test";
import { renderResolvedComment } from "../../../../lib/webhook/texts/issue/issue.ts";
import { alertWith } from "../../support/alert.ts";

const of = (parts: Parameters<typeof alertWith>[0]) =>
  renderResolvedComment(alertWith({ status: "resolved", firing: false, endsAt: null, ...parts }));
const WHEN = "02/03/2026 05:57:30 (America/Sao_Paulo)";
const SINCE = "02/03/2026 05:15:30 (America/Sao_Paulo)";

test("renderResolvedComment() says when and after how long", () => {
  expect(of({ endsAt: "2026-03-02T08:57:30Z" })).toBe(
    `✅ Resolvido em ${WHEN}, depois de 42 min. Início: ${SINCE}.`,
  );
});

test("renderResolvedComment() leaves out what is not known", () => {
  expect(of({ endsAt: "0001-01-01T00:00:00Z" })).toBe(`✅ Resolvido. Início: ${SINCE}.`);
  expect(of({ startsAt: null, endsAt: "2026-03-02T08:57:30Z" })).toBe(`✅ Resolvido em ${WHEN}.`);
  expect(of({ startsAt: null })).toBe("✅ Resolvido.");
});

test("renderResolvedComment() of a rule that could not be evaluated does not call the incident ended", () => {
  const labels = { alertname: "DatasourceError", rulename: "Disco" };
  expect(of({ labels, endsAt: "2026-03-02T08:57:30Z" })).toStartWith(
    `✅ A regra voltou a ser avaliada em ${WHEN}, depois de`,
  );
});

test("renderResolvedComment() does not call well what has ended without a measurement", () => {
  expect(of({ reason: "RuleDeleted", endsAt: "2026-03-02T08:57:30Z" })).toBe(
    `⚠️ Encerrado sem medição em ${WHEN}, depois de 42 min. Início: ${SINCE}. ` +
      "A regra foi apagada: o problema pode continuar (RuleDeleted).",
  );
});
