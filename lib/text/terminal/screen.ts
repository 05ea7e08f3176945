import { styleText } from "node:util";

/** Where a text for people goes. */
export type Screen = {
  /** The columns that a line may take; null where nothing limits it, as in a file or a pipe. */
  width: number | null;
  /** Whether colours are wanted. */
  colour: boolean;
  /** Removes what must not be printed; called before a line is broken, because nothing finds the halves of a number. */
  clean(text: string): string;
};

/** A pipe or a file. */
export const NO_TERMINAL: Screen = { width: null, colour: false, clean: (text) => text };

/** The meaning of a word's colour; the word itself has it too. */
export type Tone = "good" | "warning" | "bad";

const STYLES = { good: "green", warning: "yellow", bad: "red", title: "bold", label: "dim" } as const;

const STATES: Record<Tone, readonly string[]> = {
  good: ["sent", "completed", "applied", "found"],
  warning: [
    ...["unknown", "in doubt", "partial", "running", "pending", "missing"],
    ...["not found", "not unique", "could not be asked"],
  ],
  bad: ["failed", "dead", "edited"],
};

/** `text` in the colour of `style` where colours are wanted. */
export function paint(style: keyof typeof STYLES | null, text: string, { colour }: Screen): string {
  return colour && style !== null && text !== ""
    ? styleText(STYLES[style], text, { validateStream: false })
    : text;
}

/** The tone of a state's word, the same in every table; null for a word without one. */
export function stateTone(word: string): Tone | null {
  return (Object.keys(STATES) as Tone[]).find((tone) => STATES[tone].includes(word)) ?? null;
}
