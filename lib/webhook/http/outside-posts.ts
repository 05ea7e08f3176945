import { isLoopback } from "../../platform/loopback.ts";
import type { Sender } from "./refusal-report.ts";

/** When a post from elsewhere was accepted last, and when one was refused for its secret; null: not since the start. */
export type OutsidePostsView = { acceptedAt: string | null; secretRefusedAt: string | null };

/**
 * Remembers how the last posts from elsewhere ended. A platform that has another secret than the service is refused
 * each time, and nothing else on this host shows it: gateway, tracker and the test alert of this host work.
 *
 * Behaviour: leaves out posts of this host itself, which has the secret. One that a proxy passes on is from elsewhere.
 */
export class OutsidePosts {
  readonly #nowMs: () => number;
  #view: OutsidePostsView = { acceptedAt: null, secretRefusedAt: null };

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get view(): OutsidePostsView {
    return this.#view;
  }

  /** A request was answered. */
  answered(status: number, { address, forwardedFor }: Sender): void {
    if (forwardedFor === null && (address === null || isLoopback(address))) return;
    const at = new Date(this.#nowMs()).toISOString();
    if (status === 200) this.#view = { ...this.#view, acceptedAt: at };
    if (status === 401) this.#view = { ...this.#view, secretRefusedAt: at };
  }
}

/** When the last of these posts was refused for its secret; null when none was, or one was accepted since. */
export function lastRefusal({ acceptedAt, secretRefusedAt }: OutsidePostsView): string | null {
  return secretRefusedAt !== null && (acceptedAt === null || secretRefusedAt > acceptedAt)
    ? secretRefusedAt
    : null;
}
