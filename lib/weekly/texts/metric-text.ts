import { formatNumber, formatPercent } from "../../text/pt-br.ts";
import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import type { ChannelName } from "../payload.ts";

/** What is shown where there is no figure; never a zero. */
export const NO_FIGURE_TEXT = "sem dado";

const MAX_NAME_UNITS = 36;

/**
 * The e-mail figures, in the order of a message's life. Counts are by last known state, as the names show; in a report
 * that knows what its sends have reached, that stands in the place of three of them.
 */
const EMAIL_LABELS: Record<string, string> = {
  sends: "Enviados",
  delivery_rate: "Taxa de entrega",
  open_rate: "Taxa de abertura",
  click_rate: "Taxa de cliques",
  bounce_rate: "Taxa de devolução",
  reached_delivered: "Entregues",
  reached_opened: "Abertos",
  reached_clicked: "Com clique",
  delivered: "Entregues, sem abertura",
  opened: "Abertos, sem clique",
  clicked: "Com clique",
  bounced: "Devolvidos",
  complained: "Marcados como spam",
  failed: "Com falha no envio",
  delayed: "Com entrega atrasada",
  suppressed: "Bloqueados antes do envio",
  no_event: "Sem informação de entrega",
};

/** The figures social analyses usually carry, widest first. */
const SOCIAL_LABELS: Record<string, string> = {
  followers: "Seguidores",
  followers_count: "Seguidores",
  follower_count: "Seguidores",
  new_followers: "Novos seguidores",
  followers_gained: "Novos seguidores",
  followers_lost: "Seguidores perdidos",
  followers_delta: "Variação de seguidores",
  follower_growth: "Variação de seguidores",
  follower_growth_rate: "Crescimento de seguidores",
  reach: "Alcance",
  impressions: "Impressões",
  views: "Visualizações",
  profile_views: "Visitas ao perfil",
  profile_visits: "Visitas ao perfil",
  page_views: "Visitas à página",
  posts: "Publicações",
  posts_count: "Publicações",
  reels: "Reels",
  stories: "Stories",
  videos: "Vídeos",
  engagement: "Engajamento",
  engagements: "Interações",
  interactions: "Interações",
  engagement_rate: "Taxa de engajamento",
  likes: "Curtidas",
  reactions: "Reações",
  comments: "Comentários",
  shares: "Compartilhamentos",
  reposts: "Republicações",
  saves: "Salvamentos",
  clicks: "Cliques",
  link_clicks: "Cliques no link",
  website_clicks: "Cliques no site",
  click_rate: "Taxa de cliques",
  ctr: "Taxa de cliques",
  messages: "Mensagens",
  leads: "Contatos gerados",
};

/** A name that is spelt so already. */
const PLAIN_KEY = /^[a-z_]{1,40}$/;

/** A figure's place in its card, and its name there. */
export type MetricName = { rank: number; label: string };

const EMAIL_NAMES = namesOf(EMAIL_LABELS);
const SOCIAL_NAMES = namesOf(SOCIAL_LABELS);

function namesOf(labels: Record<string, string>): ReadonlyMap<string, MetricName> {
  return new Map(Object.entries(labels).map(([name, label], rank) => [name, { rank, label }]));
}

/**
 * The name of a figure for people: a known one in Portuguese, any other made readable from its key.
 *
 * Shape: known figures rank before unknown ones; `label` is one bounded line, neutralised but not escaped.
 */
export function metricName(channel: ChannelName, key: string): MetricName {
  const labels = channel === "email" ? EMAIL_NAMES : SOCIAL_NAMES;
  const known = labels.get(metricKey(key));
  return known ?? { rank: Number.MAX_SAFE_INTEGER, label: humanised(key) };
}

/** A figure for people; a rate is written as a percentage. */
export function metricValue(key: string, value: number | null): string {
  if (value === null || !Number.isFinite(value)) return NO_FIGURE_TEXT;
  return isRate(key) ? formatPercent(shareOf(value)) : formatNumber(value);
}

/**
 * A rate as a share of the whole, whichever of its two units the application sent.
 *
 * Units: up to 1 it is a share already, above it is a percentage: 0.045 and 4.5 are the same. A rate that falls is
 *        judged by its size.
 */
export function shareOf(rate: number): number {
  return Math.abs(rate) <= 1 ? rate : rate / 100;
}

/** Whether a figure is a rate, by its name: `engagementRate`, `engagement_rate`, `ctr`. */
export function isRate(key: string): boolean {
  return /(^|_)(rate|ctr)$/.test(metricKey(key));
}

/** One spelling of a figure's name, for what is known by name: `openRate` and `open-rate` are `open_rate`. */
export function metricKey(key: string): string {
  if (PLAIN_KEY.test(key)) return key;
  return key
    .slice(0, 2 * MAX_NAME_UNITS)
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s.-]+/g, "_")
    .toLowerCase();
}

/** "storyReplies" and "story_replies" become "Story replies"; any other text stays as it is. */
function humanised(key: string): string {
  const line = singleLine(key.slice(0, 4 * MAX_NAME_UNITS));
  const words = /^[A-Za-z0-9_]+$/.test(line) ? metricKey(line).replace(/_+/g, " ").trim() : line;
  const [first = "", ...rest] = truncate(words, MAX_NAME_UNITS);
  return first === "" ? "Sem nome" : first.toUpperCase() + rest.join("");
}
