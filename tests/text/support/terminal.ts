import { NO_TERMINAL, type Screen } from "../../../lib/text/terminal/screen.ts";

/** A terminal of that many columns, without colours. */
export function terminal(width: number, parts: Partial<Screen> = {}): Screen & { width: number } {
  return { ...NO_TERMINAL, ...parts, width };
}
