/** What the e-mail says first: whose it is, the score's weeks, the largest changes, what to do. */
import { describe, expect, test } from "bun:test";
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import { emailView } from "../../../lib/weekly/email/view.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { available, EMAIL_METRICS, emailOf, HOSTILE, PAYLOADS, payloadOf } from "../../fixtures/payloads.ts";

const OPTIONS = { appBaseUrl: "https://app.example.com" };
const view = (payload: Payload) => emailView(payload, OPTIONS);

function withScores(...scores: (number | null)[]): Payload {
  const week = (i: number) => `2026-10-${String(5 + i).padStart(2, "0")}`;
  const scoreHistory = scores.map((score, i) => ({ week: week(i), score }));
  const [previousScore = null, score = null] = scores.slice(-2);
  return payloadOf({ score, previousScore, since: { scoreHistory } });
}

describe("the head of the e-mail", () => {
  test("tells two tenants of one owner apart, in the preheader and in the page", () => {
    const [first, second] = [PAYLOADS.full!, PAYLOADS["second-tenant"]!];
    expect(first.userId).toBe(second.userId);
    expect(view(first).preheader).toStartWith(
      "Score geral: 73/100 — Padaria do Zé · Centro — 5 pontos a mais",
    );
    expect(view(second).preheader).toStartWith("Score geral: 48/100 — Padaria do Zé · Vila Mariana — ");
    expect(renderEmail(second, OPTIONS).html).toContain(">Padaria do Zé · Vila Mariana</p>");
  });

  test("says in the preheader first what an inbox has room for", () => {
    const since = { tenantName: "Padaria e Confeitaria São José do Vale" };
    expect(view(payloadOf({ score: 7, since })).preheader).toStartWith("Score geral: 7/100 — Padaria e");
    expect(view(payloadOf({ since })).preheader).toStartWith(
      "Padaria e Confeitaria São José do Vale — Ainda",
    );
    expect(view(payloadOf({ score: 7 })).preheader).toStartWith("Score geral: 7/100. Sem score");
    expect(view(payloadOf({})).preheader).toStartWith("Ainda não há");
  });

  test.each([
    [undefined, null],
    [null, null],
    [" \u200B\n", null],
    ["\u3164\u{E0041}\uFE0F".repeat(40), null],
    [`${"\u2800".repeat(70)}Padaria`, "Padaria"],
    [HOSTILE, /^">?<script>/],
    ["Nome ".repeat(1_000), /^.{1,60}$/],
  ])("of the name %p shows one clean line, or nothing", (tenantName, expected) => {
    const { name } = view(payloadOf({ since: tenantName === undefined ? {} : { tenantName } }));
    if (expected === null) expect(name).toBeNull();
    else expect(name).toMatch(expected);
  });

  test("draws a bar for each week, low for a zero and empty without a score", () => {
    const { html, text } = renderEmail(withScores(100, 0, null, 50, 49.5, 1, 20, 30), OPTIONS);
    const bars = /<table role="img"[\s\S]*?<\/tr><\/table>\n/.exec(html)![0];
    const heights = [...bars.matchAll(/<td height="(\d+)"/g)].map(([, height]) => Number(height));
    expect(heights).toEqual([48, 3, 1, 24, 24, 3, 10, 14]);
    expect([...bars.matchAll(/">([\d–]+)<\/p>/g)].map(([, score]) => score)).toEqual([
      "100",
      "0",
      "–",
      "50",
      "50",
      "1",
      "20",
      "30",
    ]);
    expect(text).toContain("05/10: 100; 06/10: 0; 07/10: sem score; 08/10: 50;");
  });

  test.each([
    [
      [null, null, null, null, null, null, null, 64],
      "A evolução do score aparece aqui nas próximas semanas.",
    ],
    [[10, 20, 30, 40, 50, 60, 70, 71], "Seu melhor score nas últimas oito semanas."],
    [[10, 20, 30, 40, 50, 60, 70, 9], "Seu menor score nas últimas oito semanas."],
    [[null, 20, 30, 40, 50, 60, 70, 71], "Seu melhor score entre as semanas mostradas."],
    [[10, 20, 30, 40, 50, 60, 71, 71], null],
    [[null, null, null, null, null, 1, 2, 3], null],
    [[10, 20, 30, 40, 50, 60, 70, null], null],
  ])("says of the weeks %p %p", (scores, note) => {
    expect(view(withScores(...scores)).scoreWeeks!.note).toBe(note);
  });

  test("says when the application has computed the score of the week before anew", () => {
    const payload = withScores(1, 2, 3, 4, 5, 6, 64, 73);
    const note = (previousScore: number | null) =>
      view({ ...payload, accountScore: { ...payload.accountScore, previousScore } }).scoreWeeks!.note;
    expect(note(68)).toBe("O score da semana anterior foi recalculado: era 64, agora é 68.");
    expect(note(64.4)).toBe("Seu melhor score nas últimas oito semanas.");
  });

  test("says what became of a bar that this week's score is not compared with", () => {
    const payload = withScores(1, 2, 3, 4, 5, 6, 68, 73);
    const head = ({ score, scoreWeeks }: ReturnType<typeof view>) => [score.change, scoreWeeks!.note];
    const dropped = (score: number | null, history = payload.provenance.scoreHistory) =>
      head(
        view({
          ...payload,
          accountScore: { ...payload.accountScore, score, previousScore: null },
          provenance: {
            ...payload.provenance,
            scoreHistory: history!.with(-1, { week: "2026-10-12", score }),
          },
        }),
      );
    expect(dropped(73)).toEqual([
      "Sem score da semana anterior para comparar",
      "O score da semana anterior, 68, não está mais disponível para comparação.",
    ]);
    expect(dropped(null)).toEqual([null, null]);
    const untold = payload.provenance.scoreHistory!.with(-2, { week: "2026-10-11", score: null });
    expect(dropped(73, untold)[1]).toBe("Seu melhor score entre as semanas mostradas.");
  });

  test("says of the only score shown nothing that a forgotten week would belie", () => {
    const { label, note } = view(PAYLOADS["first-week"]!).scoreWeeks!;
    expect(note).not.toMatch(/primeir/i);
    expect(label).toStartWith(
      "Score das últimas oito semanas; cada data é a segunda-feira em que a semana começa. 28/09: sem score;",
    );
  });

  test("draws nothing where no week has a score, and for reports that do not know the weeks", () => {
    expect(view(withScores(...Array<null>(8).fill(null))).scoreWeeks).toBeNull();
    expect(view(payloadOf({ score: 5 })).scoreWeeks).toBeNull();
  });

  test.each([
    ["empty", "Próximo passo: conectar o Instagram"],
    ["only-linkedin", "Próximo passo: conectar o Instagram"],
    ["full", null],
    ["hostile", null],
  ])("says of the report %s what to do first: %p", (name, step) => {
    expect(view(PAYLOADS[name]!).nextStep).toBe(step);
  });
});

describe("the largest changes", () => {
  const of = (metrics: Record<string, number>, previous: Record<string, number>) =>
    view(payloadOf({ channels: { instagram: { ...available(metrics, []), previous } } })).highlights.map(
      ({ title, text }) => `${title}: ${text}`,
    );

  test("are one for the better and one for the worse, the larger first", () => {
    expect(
      of(
        { reach: 150, likes: 95, saves: 10, comments: 40 },
        { reach: 100, likes: 100, saves: 90, comments: 39 },
      ),
    ).toEqual([
      "O que mais piorou: Salvamentos no Instagram: de 90 para 10",
      "O que mais melhorou: Alcance no Instagram: de 100 para 150",
    ]);
  });

  test.each([
    ["what is too small to tell", { likes: 19 }, { likes: 2 }],
    ["what hardly moves", { likes: 1_000 }, { likes: 1_010 }],
    [
      "a figure whose meaning is not known",
      { posts: 300, story_replies: 300 },
      { posts: 20, story_replies: 20 },
    ],
    ["what the week before does not have", { likes: 300 }, { reach: 20 }],
  ])("leave out %s", (_what, metrics, previous) => {
    expect(of(metrics as never, previous as never)).toEqual([]);
  });

  test("of e-mails are rates, of enough sends", () => {
    const highlights = (sends: number) => {
      const previous = { ...EMAIL_METRICS, sends, openRate: 0.2, bounced: 2_000 };
      return view(payloadOf({ channels: { email: { ...emailOf(EMAIL_METRICS), previous } } })).highlights;
    };
    expect(highlights(900)).toMatchObject([{ text: "Taxa de abertura dos e-mails: de 20,0% para 44,3%" }]);
    expect(highlights(19)).toEqual([]);
  });
});
