import { withTimeout } from "../../../platform/timeout.ts";
import type { Alert } from "../../alert/alert.ts";
import { ISSUE_TTL_MS, type IssueClaim, type State } from "../../state/contract.ts";

type Remembered = IssueClaim & { isCreated: boolean };

/** How many fingerprints are remembered; beyond that the oldest is forgotten. */
const MOST_REMEMBERED = 10_000;
/** A post waits for its answer meanwhile, and the state has just failed to keep its alerts. */
const READ_LIMIT_MS = 1_000;

/**
 * Which fingerprints have an issue, while the state keeps nothing.
 *
 * Behaviour: what the state can still read within a second counts first. A claim holds for 30 minutes; one whose issue
 *            is not known to be created is claimed again, under the same time, so that the tracker knows the repetition
 *            by its id.
 */
export class IssueClaims {
  readonly #state: Pick<State, "issueClaim" | "rememberIssues">;
  readonly #nowMs: () => number;
  readonly #readLimitMs: number;
  readonly #remembered = new Map<string, Remembered>();
  /** Those that the state does not know yet. */
  readonly #owed = new Map<string, IssueClaim>();

  /** Only tests set the limit. */
  constructor(
    state: Pick<State, "issueClaim" | "rememberIssues">,
    nowMs: () => number,
    readLimitMs = READ_LIMIT_MS,
  ) {
    this.#state = state;
    this.#nowMs = nowMs;
    this.#readLimitMs = readLimitMs;
  }

  /** The issue that a fingerprint has, or null. */
  async find({ fingerprint }: Pick<Alert, "fingerprint">): Promise<IssueClaim | null> {
    const own = this.#current(fingerprint);
    if (own?.isCreated) return own;
    const read = () => this.#state.issueClaim(fingerprint).catch(() => null);
    return await withTimeout({ limitMs: this.#readLimitMs }, read, () => null);
  }

  /** When the issue of a fingerprint was claimed first, from now on at the latest; its id is made of it. */
  claim(fingerprint: string): number {
    const own = this.#current(fingerprint);
    if (own !== null) return own.claimedAtMs;
    const claimedAtMs = this.#nowMs();
    this.#remember(fingerprint, { claimedAtMs, url: null, isCreated: false });
    return claimedAtMs;
  }

  /** When the issue of a fingerprint was claimed, for a state that does not know of it. */
  triedAtMs(fingerprint: string): number | undefined {
    return this.#current(fingerprint)?.claimedAtMs;
  }

  created(fingerprint: string, claim: IssueClaim): void {
    this.#remember(fingerprint, { ...claim, isCreated: true });
    this.#owed.set(fingerprint, claim);
  }

  /** Whether a fingerprint of these alerts has an issue that the state does not know. */
  areOwedFor(requests: readonly (readonly Alert[])[]): boolean {
    if (this.#owed.size === 0) return false;
    return requests.some((alerts) => alerts.some(({ fingerprint }) => this.#owed.has(fingerprint)));
  }

  /** Tells the state of the issues that it does not know; does nothing while it keeps nothing. */
  async handOver(): Promise<void> {
    if (this.#owed.size === 0) return;
    const owed = new Map(this.#owed);
    try {
      await this.#state.rememberIssues([...owed].map(([fingerprint, claim]) => ({ fingerprint, ...claim })));
    } catch {
      return;
    }
    for (const [fingerprint, claim] of owed)
      if (this.#owed.get(fingerprint) === claim) this.#owed.delete(fingerprint);
  }

  #current(fingerprint: string): Remembered | null {
    const own = this.#remembered.get(fingerprint);
    if (own === undefined || Math.abs(this.#nowMs() - own.claimedAtMs) >= ISSUE_TTL_MS) return null;
    return own;
  }

  #remember(fingerprint: string, claim: Remembered): void {
    this.#remembered.delete(fingerprint);
    this.#remembered.set(fingerprint, claim);
    if (this.#remembered.size <= MOST_REMEMBERED) return;
    const oldest = this.#remembered.keys().next().value!;
    this.#remembered.delete(oldest);
    this.#owed.delete(oldest);
  }
}
