import type { Log } from "../../../platform/log/log.ts";
import type { Detour, Settlement, State } from "../../state/contract.ts";

/** A message about nothing that went another way. */
export const NO_DETOUR: Detour = { emailed: 0, givenUp: 0 };

/**
 * Lets one message say how many alerts went the other way, or were given up, while WhatsApp took none.
 *
 * Behaviour: the first message that is made then says it, again when it is made anew, and no other while that one may
 *            arrive; what it said is forgotten when it is delivered. After a restart it may be said once more.
 */
export class DetourTeller {
  readonly #state: Pick<State, "detour" | "recordDetourTold">;
  readonly #log: Log;
  /** `isSent` once its text may be on the phone. */
  #telling: { row: number; told: Detour; isSent: boolean } | null = null;

  constructor(dependencies: { state: Pick<State, "detour" | "recordDetourTold">; log: Log }) {
    this.#state = dependencies.state;
    this.#log = dependencies.log;
  }

  /** What the message of a row says of it; never throws. */
  async for(row: number): Promise<Detour> {
    if (this.#telling !== null && this.#telling.row !== row) return NO_DETOUR;
    const telling = { row, told: NO_DETOUR, isSent: false };
    this.#telling = telling;
    telling.told = await this.#read();
    if (telling.told.emailed === 0 && telling.told.givenUp === 0) this.#telling = null;
    return telling.told;
  }

  /** Learns how a row's attempt was settled; null: it was not made. */
  async ended(row: number, settlement: Settlement | null): Promise<void> {
    if (this.#telling?.row !== row) return;
    const { told } = this.#telling;
    if (settlement?.status === "retry") {
      this.#telling.isSent ||= settlement.isUnclear || settlement.isUnanswered === true;
      // Refused clearly: its next text is made anew, and another message may come before.
      if (this.#telling.isSent) return;
    }
    this.#telling = null;
    if (settlement?.status !== "delivered") return;
    await this.#state.recordDetourTold(told).catch((error: unknown) => this.#warn(error));
  }

  #read(): Promise<Detour> {
    return this.#state.detour().catch((error: unknown) => {
      this.#warn(error);
      return NO_DETOUR;
    });
  }

  #warn(error: unknown): void {
    const cause = error instanceof Error ? error.name : typeof error;
    this.#log.warn("It is not known, or not recorded, how many alerts went the other way", { cause });
  }
}
