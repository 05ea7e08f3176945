import type { CardView } from "./card.ts";
import type { EmailView, ReadingView, StepView } from "./view.ts";
import { moreText, READINGS_EMPTY_TEXT, SCORE_ABSENT_TEXT, weekNote } from "./wording.ts";

/** The plain part of the weekly e-mail: the content of the HTML part, in the same order. */
export function renderEmailText(view: EmailView): string {
  const { score, link } = view;
  const blocks = [
    ["Seu desempenho semanal", view.days],
    [score.line, score.change ?? SCORE_ABSENT_TEXT],
    heading("Leitura da semana"),
    ...(view.readings.length > 0 ? view.readings.map(readingLines) : [[READINGS_EMPTY_TEXT]]),
    [view.coverage],
    heading("Seus canais"),
    ...view.cards.map(cardLines),
    heading("Próximos passos"),
    view.steps.flatMap(stepLines),
    ["Ver o relatório completo:", link],
    [weekNote(view.days)],
  ];
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function heading(text: string): string[] {
  return [text, "=".repeat(text.length)];
}

function readingLines({ channel, items, more }: ReadingView): string[] {
  const rest = more > 0 ? [`- ${moreText(more, "leitura", "leituras")}`] : [];
  return [channel, ...items.map((item) => `- ${item}`), ...rest];
}

function cardLines({ name, coverageLabel, note, figures, more }: CardView): string[] {
  return [
    `${name} (${coverageLabel.toLowerCase()})`,
    ...(note === null ? [] : [note]),
    ...figures.map(({ label, value }) => `- ${label}: ${value}`),
    ...(more > 0 ? [`- ${moreText(more, "número", "números")}`] : []),
  ];
}

function stepLines({ label, href }: StepView, index: number): string[] {
  return [`${index + 1}. ${label}`, ...(href === null ? [] : [`   ${href}`])];
}
