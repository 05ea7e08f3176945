import type { ChannelName } from "../../payload.ts";

/** Whether more of a figure is good news; `neutral` where that depends, or where the figure is not known. */
export type Direction = "more_is_better" | "less_is_better" | "neutral";

/** Figures of trouble with e-mails, in the order of the line of zeros, and how it counts them. */
export const TROUBLES: Readonly<Record<string, string>> = {
  bounced: "devolvidos",
  complained: "spam",
  failed: "falhas no envio",
  delayed: "atrasados",
  suppressed: "bloqueados",
  no_event: "sem informação de entrega",
};

const EMAIL_LESS_IS_BETTER = new Set([...Object.keys(TROUBLES), "bounce_rate"]);
const SOCIAL_LESS_IS_BETTER = new Set(["followers_lost", "bounce_rate"]);

/**
 * What an owner writes, such as sends and posts, is missing on purpose: more of it is neither good nor bad. So are
 * counts of e-mails, which follow the number of sends: their rates tell.
 */
const EMAIL_MORE_IS_BETTER = new Set(["delivery_rate", "open_rate", "click_rate"]);

const SOCIAL_MORE_IS_BETTER = new Set([
  ...["followers", "followers_count", "follower_count", "new_followers", "followers_gained"],
  ...["followers_delta", "follower_growth", "follower_growth_rate"],
  ...["reach", "impressions", "views", "profile_views", "profile_visits", "page_views"],
  ...["engagement", "engagements", "interactions", "engagement_rate"],
  ...["likes", "reactions", "comments", "shares", "reposts", "saves"],
  ...["clicks", "link_clicks", "website_clicks", "click_rate", "ctr", "messages", "leads"],
]);

/** Each group answers one question of an owner; the first figure of it that is known stands for it. */
const EMAIL_GROUPS = [["open_rate", "reached_opened"], ["click_rate", "reached_clicked"], ["sends"]];
const SOCIAL_GROUPS = [
  ["followers", "followers_count", "follower_count", "new_followers", "followers_gained"],
  ["reach", "impressions", "views", "page_views", "profile_views", "profile_visits"],
  ["engagement_rate", "engagement", "engagements", "interactions", "click_rate", "ctr", "clicks", "likes"],
];

/** Of fewer e-mails a share says less than their number, and swings by itself. */
const MIN_SENDS = 20;

/** Whether a week's sends are too few for a share of them to mean anything, or are not known. */
export function isHandful(sends: unknown): boolean {
  return typeof sends !== "number" || sends < MIN_SENDS;
}

/** Whether a channel's figure counts what went wrong. */
export function isTrouble(channel: ChannelName, name: string): boolean {
  return (channel === "email" ? EMAIL_LESS_IS_BETTER : SOCIAL_LESS_IS_BETTER).has(name);
}

/** What more of a channel's figure means to the owner; its name is spelt as `metricKey` does. */
export function directionOf(channel: ChannelName, name: string): Direction {
  if (isTrouble(channel, name)) return "less_is_better";
  const better = channel === "email" ? EMAIL_MORE_IS_BETTER : SOCIAL_MORE_IS_BETTER;
  return better.has(name) ? "more_is_better" : "neutral";
}

/** The questions that a channel's large figures are for, each with its figures, most telling first. */
export function questionsOf(channel: ChannelName): readonly (readonly string[])[] {
  return channel === "email" ? EMAIL_GROUPS : SOCIAL_GROUPS;
}
