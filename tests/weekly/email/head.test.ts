/** What the e-mail says first: whose it is, the score's weeks, what to do; and how it is signed. */
import { describe, expect, test } from "bun:test";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { HOSTILE, PAYLOADS, payloadOf } from "../../fixtures/payloads.ts";
import { showEmail } from "../support/shown-email.ts";

/** Eight Mondays across the end of a year. */
const MONDAYS = [
  ...["2026-11-16", "2026-11-23", "2026-11-30", "2026-12-07"],
  ...["2026-12-14", "2026-12-21", "2026-12-28", "2027-01-04"],
];

type Scores = (number | null)[];

/** A report of the last of these weeks; `previousScore` is what the application says of the week before now. */
function reportAfter(scores: Scores, previousScore: number | null = scores.at(-2) ?? null): Payload {
  const scoreHistory = MONDAYS.map((week, i) => ({ week, score: scores[i] ?? null }));
  return payloadOf({ score: scores.at(-1) ?? null, previousScore, since: { scoreHistory } });
}

/** The lines about the score below its change: the weeks in words, and what stands out. */
const weeksOf = (payload: Payload) => {
  const { head } = showEmail(payload);
  const at = head.findIndex((line) => line.startsWith("Score das últimas oito semanas"));
  return at < 0 ? [] : head.slice(at).filter((line) => !line.startsWith("Próximo passo"));
};
const noteOf = (payload: Payload) => weeksOf(payload)[1];

describe("the name in the head of the e-mail", () => {
  test("distinguishes two tenants of one owner, in the preheader and in the page", () => {
    const [first, second] = [PAYLOADS.full!, PAYLOADS["second-tenant"]!].map(showEmail);
    expect(first!.preheader).toStartWith("Score geral: 73/100 — Padaria do Zé · Centro — 5 pontos a mais");
    expect(second!.preheader).toStartWith("Score geral: 48/100 — Padaria do Zé · Vila Mariana — ");
    expect(second!.html).toContain(">Padaria do Zé · Vila Mariana</p>");
  });

  test("comes in the preheader where an inbox has room for it", () => {
    const since = { tenantName: "Padaria e Confeitaria São José do Vale" };
    const preheader = (parts: Parameters<typeof payloadOf>[0]) => showEmail(payloadOf(parts)).preheader;
    expect(preheader({ score: 7, since })).toStartWith("Score geral: 7/100 — Padaria e");
    expect(preheader({ since })).toStartWith("Padaria e Confeitaria São José do Vale — Ainda");
    expect(preheader({ score: 7 })).toStartWith("Score geral: 7/100. Sem score");
    expect(preheader({})).toStartWith("Ainda não há");
  });

  test.each([
    [undefined, null],
    [null, null],
    [" \u200B\n", null],
    ["\u3164\u{E0041}\uFE0F".repeat(40), null],
    [`${"\u2800".repeat(70)}Padaria`, /^Padaria$/],
    [HOSTILE, /^">?<script>/],
    ["N".repeat(1_000), /^N{59}…$/],
  ])("a name of %p is one clean line, or nothing", (tenantName, expected) => {
    const { head } = showEmail(payloadOf({ since: tenantName === undefined ? {} : { tenantName } }));
    expect(head[0]).toBe("Seu desempenho semanal");
    expect(head[expected === null ? 1 : 2]).toBe("16/11 a 22/11");
    if (expected !== null) expect(head[1]).toMatch(expected);
  });

  test.each([
    ["Padaria S.A.", "responsável pela conta Padaria S.A."],
    ["Padaria", "responsável pela conta Padaria."],
    [null, "responsável por uma conta."],
  ])("a name of %p ends the last sentence with one stop", (tenantName, end) => {
    const { text } = showEmail(payloadOf({ since: { tenantName } }));
    expect(text).toContain(`${end}\n`);
  });
});

describe("the weeks of the score", () => {
  test("have a bar each, low for a zero and empty without a score", () => {
    const { html, head } = showEmail(reportAfter([100, 0, null, 50, 49.5, 1, 20, 30]));
    const bars = /<table role="img"[\s\S]*?<\/tr><\/table>\n/.exec(html)![0];
    const heights = [...bars.matchAll(/<td height="(\d+)"/g)].map(([, height]) => Number(height));
    expect(heights).toEqual([48, 3, 1, 24, 24, 3, 10, 14]);
    const scores = [...bars.matchAll(/">([\d–]+)<\/p>/g)].map(([, score]) => score!);
    expect(scores).toEqual(["100", "0", "–", "50", "50", "1", "20", "30"]);
    expect(head.join()).toContain(
      "cada data é a segunda-feira em que a semana começa. 16/11: 100; 23/11: 0; 30/11: sem score; 07/12: 50; 14/12: 50; 21/12: 1; 28/12: 20; 04/01: 30",
    );
  });

  test.each<[Scores, number | null | undefined, string | undefined]>([
    [
      [null, null, null, null, null, null, null, 64],
      undefined,
      "A evolução do score aparece aqui nas próximas semanas.",
    ],
    [[10, 20, 30, 40, 50, 60, 70, 71], undefined, "Seu melhor score nas últimas oito semanas."],
    [[10, 20, 30, 40, 50, 60, 70, 9], undefined, "Seu menor score nas últimas oito semanas."],
    [[null, 20, 30, 40, 50, 60, 70, 71], undefined, "Seu melhor score entre as semanas mostradas."],
    [[10, 20, 30, 40, 50, 60, 71, 71], undefined, undefined],
    [[null, null, null, null, null, 1, 2, 3], undefined, undefined],
    [[null, null, null, null, 1, 2, 3, 4], undefined, "Seu melhor score entre as semanas mostradas."],
    [[10, 20, 30, 40, 50, 60, 70, null], undefined, undefined],
    // The application has another score of the week before by now, or none.
    [[1, 2, 3, 4, 5, 6, 64, 73], 68, "O score da semana anterior foi recalculado: era 64, agora é 68."],
    [[1, 2, 3, 4, 5, 6, 64, 73], 64.4, "Seu melhor score nas últimas oito semanas."],
    [
      [1, 2, 3, 4, 5, 6, 68, 73],
      null,
      "O score da semana anterior, 68, não está mais disponível para comparação.",
    ],
    [[1, 2, 3, 4, 5, 6, 68, null], null, undefined],
    [[1, 2, 3, 4, 5, 6, null, 73], null, "Seu melhor score entre as semanas mostradas."],
  ])("the scores %j, the one before now %p, say %p", (scores, previousScore, note) => {
    expect(noteOf(reportAfter(scores, previousScore))).toBe(note);
  });

  test("show the score that the owner was sent, and the score of comparison where no report of that week had one", () => {
    const before = (scores: Scores, previous: number | null) =>
      /28\/12: ([^;]+);/.exec(weeksOf(reportAfter(scores, previous))[0]!)![1];
    const untold = [...Array<null>(7).fill(null), 72];
    const told = [...Array<null>(6).fill(null), 68.4, 72];
    expect([before(untold, 70), before(told, 70), before(told, null)]).toEqual(["70", "68", "68"]);
    expect(noteOf(reportAfter(untold, 70))).toBeUndefined();
  });

  test("are not shown where no week has a score, and of reports that do not know the weeks", () => {
    expect(weeksOf(reportAfter(Array<null>(8).fill(null)))).toEqual([]);
    expect(weeksOf(payloadOf({ score: 5 }))).toEqual([]);
  });
});

test.each([
  ["empty", "Próximo passo: conectar o Instagram"],
  ["only-linkedin", "Próximo passo: conectar o Instagram"],
  ["full", undefined],
  ["hostile", undefined],
])("the head of the report %s says what to do first: %p", (name, step) => {
  expect(showEmail(PAYLOADS[name]!).head.find((line) => line.startsWith("Próximo passo"))).toBe(step);
});

test.each([
  ["check_linkedin", "conferir a conexão com o LinkedIn"],
  ["gather_instagram", "publicar no Instagram"],
  ["send_email", "enviar um e-mail aos seus contatos"],
  ["check_email_events", "conferir se os seus e-mails registram entregas, aberturas e cliques"],
])("the head says the step %s in a few words", (code, words) => {
  const step = { code, channel: "email" as const, label: "Passo", path: "/app" };
  const { head } = showEmail({ ...payloadOf({}), activationActions: [step] });
  expect(head.at(-1)).toBe(`Próximo passo: ${words}`);
});
