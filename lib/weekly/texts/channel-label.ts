import type { ChannelName } from "../payload.ts";

/** The channels' names as people read them. */
export const CHANNEL_LABELS: Record<ChannelName, string> = {
  email: "E-mail",
  instagram: "Instagram",
  linkedin: "LinkedIn",
  blog: "Blog",
  tiktok: "TikTok",
};
