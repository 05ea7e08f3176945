import type { Evidence } from "./evidence.ts";

/**
 * What was found out about one delivery in doubt.
 *
 * Shape: `code` says why nothing was found, why the evidence is not unique, or why the provider could not be asked.
 */
export type Verdict =
  | { status: "found"; evidence: Evidence }
  | { status: "not_found" | "not_unique" | "could_not_be_asked"; code: string };

/** The provider could not be asked. */
export function notAsked(code: string): Verdict {
  return { status: "could_not_be_asked", code };
}

/** The operator ended the command before this delivery's turn. */
export const INTERRUPTED: Verdict = notAsked("look_up_interrupted");

/** How many calls without a usable answer in a row say that a peer is away. */
const SILENT_IN_A_ROW = 3;

/** Remembers when a peer is no longer worth asking: each further question would cost its whole time limit. */
export class PeerPatience {
  #silent = 0;
  #code: string | null = null;

  /** The code of why the peer is not asked any more, or null. */
  get code(): string | null {
    return this.#code;
  }

  /** To be told after each question. */
  note(answer: { status: string; code?: string; fault?: "refused" | "question" | "silent" }): void {
    this.#silent = answer.status === "failed" && answer.fault === "silent" ? this.#silent + 1 : 0;
    if (answer.code === undefined) return;
    if (answer.fault === "refused" || this.#silent >= SILENT_IN_A_ROW) this.#code = answer.code;
  }
}
