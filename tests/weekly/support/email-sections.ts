/** The parts of a rendered e-mail, so that what one of them says can be held against what it is about. */
import { CHANNELS, type ChannelName } from "../../../lib/weekly/payload.ts";
import { CHANNEL_LABELS } from "../../../lib/weekly/texts/channel-label.ts";
import { visibleText } from "./html-tree.ts";

/** A piece of the e-mail as people read it, and the channels it is about; `frame` is head, steps and footer. */
export type EmailPiece = { about: readonly ChannelName[]; text: string };

/** What the e-mail counts by itself: the places of its steps, and how much more the full report has. */
const MORE = /e mais [\d.]+ (?:destaques?|números?) no relatório completo/g;
const MORE_NAMES = / e mais [\d.]+(?= *(?:\n|$))/g;

/** The pieces of the plain part, without the numbers that the e-mail counts by itself and without addresses. */
export function textPieces(text: string): EmailPiece[] {
  const blocks = text.replaceAll(/https:\S+/g, "link").split("\n\n");
  const headings = ["Leitura da semana\n", "Seus canais\n", "Próximos passos\n"];
  const [readings, cards, steps] = headings.map((heading) =>
    blocks.findIndex((block) => block.startsWith(heading)),
  ) as [number, number, number];
  return [
    ...blocks.slice(0, readings).map(frame),
    ...blocks.slice(readings + 1, cards).flatMap(readingPieces),
    ...blocks.slice(cards + 1, steps).map((block) => ({ about: startOf(block), text: uncounted(block) })),
    ...blocks.slice(steps).map((block) => frame(block.replaceAll(/^\d\. /gm, ""))),
  ];
}

/** The pieces of the HTML part in the same way. */
export function htmlPieces(html: string): EmailPiece[] {
  const apart = html
    .replaceAll("&#847;", "")
    .replaceAll(/<td class="number"[^>]*>\d<\/td>/g, "")
    .replaceAll(/<\/(td|th|p|h\d)>/g, " </$1>");
  const [head, readings, cards, end] = cut(apart, [">Leitura da semana", ">Seus canais", ">Próximos passos"]);
  const [beforeCards, ...eachCard] = cards!.split('<td class="card ');
  return [
    frame(visibleText(head!)),
    ...readings!.split("<h3").flatMap((piece) => readingPieces(visibleText(`<h3${piece}`).trim())),
    frame(visibleText(beforeCards!)),
    ...eachCard.map((piece, i) => ({ about: [CHANNELS[i]!], text: uncounted(visibleText(`<td ${piece}`)) })),
    frame(visibleText(end!)),
  ];
}

function frame(text: string): EmailPiece {
  return { about: [], text: uncounted(text) };
}

/** A block of findings begins with the names of its channels; each largest change names its own. */
function readingPieces(block: string): EmailPiece[] {
  const lines = block.split("\n");
  if (!lines[0]!.startsWith("O que mais")) return [{ about: startOf(block), text: uncounted(block) }];
  const text = block.replaceAll("\n", " ");
  const sentences = text.split(/(?=O que mais (?:melhorou|piorou))/);
  return sentences.map((sentence) => ({
    about: named(channelOf(sentence)),
    text: sentence,
  }));
}

/** "Alcance no Instagram: de …", "Taxa de abertura dos e-mails: de …". */
function channelOf(sentence: string): string {
  const [, network] = / (?:no (\p{L}+)|dos e-mails): de /u.exec(sentence)!;
  return network ?? CHANNEL_LABELS.email;
}

/** The channels that the first words of a block name: "Instagram e LinkedIn". */
function startOf(block: string): ChannelName[] {
  return named(/^(?:(?:E-mail|Instagram|LinkedIn|Blog|TikTok)(?:, | e )?)*/.exec(block.trimStart())![0]);
}

function named(words: string): ChannelName[] {
  return CHANNELS.filter((channel) => words.includes(CHANNEL_LABELS[channel]));
}

function uncounted(text: string): string {
  return text.replaceAll(MORE, "").replaceAll(MORE_NAMES, "");
}

function cut(text: string, marks: readonly string[]): string[] {
  const places = [0, ...marks.map((mark) => text.indexOf(mark) + 1), text.length];
  return places.slice(1).map((end, i) => text.slice(places[i], end));
}
