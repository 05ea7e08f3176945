/** A weekly e-mail as its reader sees it. */
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { elementsIn, htmlTree, upwards } from "./html-tree.ts";

const OPTIONS = { appBaseUrl: "https://app.example.com" };

/** The colour of a change: good or bad news, or neither. */
export type Tone = "good" | "bad" | "muted";

/**
 * A rendered e-mail and the parts of its plain text, each as lines.
 *
 * Shape: `head` ends before the first link; `readings` and `steps` are without their headings; `card` is the part of
 *        one channel without its name; `toneOf` is the colour of the change that these words say in the HTML.
 */
export type ShownEmail = {
  html: string;
  text: string;
  preheader: string;
  head: string[];
  readings: string[];
  steps: string[];
  card(channel: string): string[];
  toneOf(words: string): Tone | undefined;
};

/** Renders the e-mail of a report. */
export function showEmail(payload: Payload): ShownEmail {
  const { html, text } = renderEmail(payload, OPTIONS);
  const lines = text.split("\n");
  const between = (from: string, to: string) =>
    lines.slice(lines.indexOf(from) + 2, lines.indexOf(to)).filter((line) => line !== "");
  return {
    html,
    text,
    preheader: /<div style="display:none[^>]*>([^<]*?)\u034F/.exec(html)![1]!,
    head: lines.slice(0, lines.indexOf("Ver relatório completo:")).filter((line) => line !== ""),
    readings: between("Leitura da semana", "Seus canais"),
    steps: between("Próximos passos", "-- "),
    card: (channel) => cardIn(text, channel),
    toneOf: (words) => toneIn(html, words),
  };
}

function cardIn(text: string, channel: string): string[] {
  const cards = text.split("\nSeus canais\n")[1]!.split("\n\n");
  const card = cards.find((block) => new RegExp(`^${channel}(?: \\(|:|\n|$)`).test(block))!;
  return card.split("\n").slice(1);
}

/** Of the innermost element with these words, or of the nearest around it that has a colour of its own. */
function toneIn(html: string, words: string): Tone | undefined {
  const holder = [...elementsIn(htmlTree(html))].findLast(({ children }) =>
    children.some((child) => typeof child === "string" && child.replaceAll("\u00a0", " ").startsWith(words)),
  );
  const classes = holder === undefined ? [] : [...upwards(holder)].map(({ attributes }) => attributes.class);
  return classes.find((name): name is Tone => ["good", "bad", "muted"].includes(name ?? ""));
}
