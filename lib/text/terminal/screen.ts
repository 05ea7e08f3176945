import { styleText } from "node:util";

/** Where a text for people goes. */
export type Screen = {
  /** How many columns a line may take; null where nothing limits it, as in a file or a pipe. */
  width: number | null;
  /** Whether colours are wanted. */
  colour: boolean;
  /** Takes out what must not be printed: before a line is broken, because nothing finds the halves of a number. */
  clean(text: string): string;
};

/** A pipe or a file. */
export const NO_TERMINAL: Screen = { width: null, colour: false, clean: (text) => text };

/** What a word's colour says; the word says it too. */
export type Tone = "good" | "warning" | "bad";

const STYLES = { good: "green", warning: "yellow", bad: "red", title: "bold", label: "dim" } as const;

/** `text` in the colour of `style` where colours are wanted. */
export function paint(style: keyof typeof STYLES | null, text: string, { colour }: Screen): string {
  return colour && style !== null && text !== ""
    ? styleText(STYLES[style], text, { validateStream: false })
    : text;
}
