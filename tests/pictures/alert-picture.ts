/** Draws a WhatsApp message as the chat of a phone shows it: bold words, quoted lines, links. */

const WIDTH = 360;
const BUBBLE = { left: 12, top: 64, width: 324, padding: 14 };
const LINE_HEIGHT = 21;
/** What fits into a line of the bubble in a wide font. */
const LINE_CHARACTERS = 37;
/** Signs that are drawn, since not every machine has a font for them. */
const SIGNS: Readonly<Record<string, string>> = {
  "🔴": "#dd2e44",
  "🟠": "#f4900c",
  "🟡": "#fdcb58",
  "🔵": "#55acee",
};

type Style = "plain" | "bold" | "link";
type Run = { text: string; style: Style };
type Line = { isQuote: boolean; sign?: string | undefined; runs: Run[] };

/**
 * The picture of a message.
 *
 * Shape: an SVG document of text and rectangles alone, in the fonts of the reader's browser.
 */
export function alertPicture(message: string): string {
  const lines = message.trimEnd().split("\n").flatMap(wrap);
  const textHeight = lines.length * LINE_HEIGHT;
  const height = BUBBLE.top + textHeight + 2 * BUBBLE.padding + 36;
  const bubbleHeight = textHeight + 2 * BUBBLE.padding + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    "<title>An alert as a WhatsApp message</title>",
    `<g font-family="-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif" font-size="14" fill="#111b21">`,
    `<rect width="${WIDTH}" height="${height}" rx="12" fill="#efeae2"/>`,
    `<path d="M0 48V12A12 12 0 0 1 12 0H${WIDTH - 12}A12 12 0 0 1 ${WIDTH} 12V48Z" fill="#075e54"/>`,
    `<circle cx="30" cy="24" r="14" fill="#cfd8d6"/>`,
    `<text x="54" y="29" font-size="15" font-weight="600" fill="#fff">Alertas</text>`,
    `<rect x="${BUBBLE.left}" y="${BUBBLE.top}" width="${BUBBLE.width}" height="${bubbleHeight}" rx="10" fill="#fff"/>`,
    ...lines.map(drawLine),
    `<text x="${BUBBLE.left + BUBBLE.width - 10}" y="${BUBBLE.top + bubbleHeight - 9}" font-size="11" fill="#667781" text-anchor="end">05:20</text>`,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function drawLine({ isQuote, sign, runs }: Line, index: number): string {
  const y = BUBBLE.top + BUBBLE.padding + (index + 0.75) * LINE_HEIGHT;
  const left = BUBBLE.left + BUBBLE.padding;
  const x = left + (isQuote ? 10 : 0) + (sign === undefined ? 0 : 20);
  const bar = isQuote
    ? `<rect x="${left}" y="${y - 15}" width="3" height="${LINE_HEIGHT}" fill="#9aa5a3"/>`
    : "";
  const circle = sign === undefined ? "" : `<circle cx="${left + 7}" cy="${y - 5}" r="7" fill="${sign}"/>`;
  const words = runs.map(({ text, style }) => `<tspan${STYLES[style]}>${escaped(text)}</tspan>`).join("");
  return `${bar}${circle}<text x="${x}" y="${y}" xml:space="preserve">${words}</text>`;
}

const STYLES: Record<Style, string> = { plain: "", bold: ' font-weight="700"', link: ' fill="#027eb5"' };

/** The lines that one line of the message needs, broken between words, a long address anywhere. */
function wrap(line: string): Line[] {
  const isQuote = line.startsWith("> ");
  const sign = SIGNS[line.slice(0, 2)];
  const lines: Line[] = [{ isQuote, sign, runs: [] }];
  for (const { text, style } of runsOf(isQuote ? line.slice(2) : sign === undefined ? line : line.slice(3))) {
    for (const piece of text.match(new RegExp(`\\S{${LINE_CHARACTERS}}|\\S+\\s*|\\s+`, "gu")) ?? []) {
      const last = lines.at(-1)!;
      const used = last.runs.reduce((sum, run) => sum + run.text.length, 0);
      const needsNext = used > 0 && used + piece.trimEnd().length > LINE_CHARACTERS;
      if (needsNext) lines.push({ isQuote, runs: [{ text: piece, style }] });
      else last.runs.push({ text: piece, style });
    }
  }
  return lines;
}

function runsOf(line: string): Run[] {
  return line
    .split(/(\*[^*\n]+\*|https?:\/\/\S+)/u)
    .filter((text) => text !== "")
    .map((text): Run => {
      if (/^\*.+\*$/u.test(text)) return { text: text.slice(1, -1), style: "bold" };
      return { text, style: /^https?:/u.test(text) ? "link" : "plain" };
    });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
