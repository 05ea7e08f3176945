import type { CardView } from "./card.ts";
import type { FigureView } from "./figures/figures.ts";
import type { ReadingView } from "./readings.ts";
import type { EmailView, StepView } from "./view.ts";
import {
  BUTTON_TEXT,
  moreText,
  READINGS_EMPTY_TEXT,
  SCORE_ABSENT_TEXT,
  UNSUBSCRIBE_TEXT,
} from "./wording.ts";

/** The plain part of the weekly e-mail: the content of the HTML part, in the same order. */
export function renderEmailText(view: EmailView): string {
  const blocks = [
    ["Seu desempenho semanal", ...present(view.name), view.days],
    scoreLines(view),
    present(view.nextStep),
    [`${BUTTON_TEXT}:`, view.link],
    heading("Leitura da semana"),
    ...readingBlocks(view),
    heading("Seus canais"),
    present(view.comparison),
    ...view.cards.map(cardLines),
    heading("Próximos passos"),
    view.steps.flatMap(stepLines),
    [`${BUTTON_TEXT}:`, view.link],
    ["-- "],
    ...[view.coverage, ...view.notes].map((note) => [note]),
    view.unsubscribe === null ? [] : [`${UNSUBSCRIBE_TEXT}:`, view.unsubscribe],
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function heading(text: string): string[] {
  return [text, "=".repeat(text.length)];
}

function scoreLines({ score, scoreWeeks }: EmailView): string[] {
  const weeks = scoreWeeks === null ? [] : [scoreWeeks.label, ...present(scoreWeeks.note)];
  return [score.line, score.change ?? SCORE_ABSENT_TEXT, ...weeks];
}

function readingBlocks({ highlights, readings: { groups, more } }: EmailView): string[][] {
  if (highlights.length + groups.length === 0) return [[READINGS_EMPTY_TEXT]];
  const rest = more > 0 ? [[moreText(more, "destaque", "destaques")]] : [];
  return [highlights.map(({ title, text }) => `${title}: ${text}`), ...groups.map(readingLines), ...rest];
}

function readingLines({ channel, items }: ReadingView): string[] {
  return [channel, ...items.map((item) => `- ${item}`)];
}

function cardLines(card: CardView): string[] {
  const { name, isLine, coverageLabel, note, main, comparison, small, zeros, absent, more } = card;
  if (isLine) return [note === null ? name : `${name}: ${note.toLowerCase()}`];
  return [
    coverageLabel === null ? name : `${name} (${coverageLabel.toLowerCase()})`,
    ...present(note),
    ...main.map(mainLine),
    ...present(comparison),
    ...small.map(smallLine),
    ...present(zeros),
    ...present(absent),
    ...(more > 0 ? [moreText(more, "número", "números")] : []),
  ];
}

function mainLine(figure: FigureView): string {
  return figureLine(figure, present(figure.change?.percent ?? null));
}

function smallLine(figure: FigureView): string {
  return figureLine(figure, []);
}

function figureLine({ label, value, change }: FigureView, percent: string[]): string {
  if (change === null) return `- ${label}: ${value}`;
  return `- ${label}: ${value} (${[change.text, ...percent].join(", ")})`;
}

function stepLines({ label, href }: StepView, index: number): string[] {
  return [`${index + 1}. ${label}`, ...(href === null ? [] : [`   ${href}`])];
}

function present(text: string | null): string[] {
  return text === null ? [] : [text];
}
