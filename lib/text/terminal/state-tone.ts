import type { Tone } from "./screen.ts";

const WORDS: Record<Tone, readonly string[]> = {
  good: ["sent", "completed", "applied", "found"],
  warning: [
    ...["unknown", "in doubt", "partial", "running", "pending", "missing"],
    ...["not found", "not unique", "could not be asked"],
  ],
  bad: ["failed", "given up", "edited"],
};

const TONES = new Map(
  (Object.keys(WORDS) as Tone[]).flatMap((tone) => WORDS[tone].map((word) => [word, tone] as const)),
);

/** The tone of a state's word, the same in every table; null for one that has none. */
export function stateTone(word: string): Tone | null {
  return TONES.get(word) ?? null;
}
