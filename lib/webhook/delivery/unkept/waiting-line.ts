import { priorityOf } from "../../state/stored.ts";
import { isWanted, type Telling } from "./telling.ts";

type Place = { telling: Telling; priority: number; leave: () => void };

/**
 * Those whose turn has not come, the most urgent first, in order of arrival within one severity.
 *
 * Behaviour: holds at most `most`; when it is full, the last of the least urgent has to leave for one that is more
 *            urgent. `leave` tells an entry that it goes without a turn.
 */
export class WaitingLine {
  readonly #most: number;
  #places: Place[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get length(): number {
    return this.#places.length;
  }

  /** False when there is no place. */
  join(telling: Telling, leave: () => void): boolean {
    const priority = priorityOf(telling.row.alert);
    if (this.#places.length >= this.#most) {
      if (this.#places.at(-1)!.priority <= priority) return false;
      this.#places.pop()!.leave();
    }
    const at = this.#places.findLastIndex((place) => place.priority <= priority);
    this.#places.splice(at + 1, 0, { telling, priority, leave });
    return true;
  }

  /** The next one, who has its turn now. */
  next(): Telling | undefined {
    return this.#places.shift()?.telling;
  }

  /** Removes the entries for which no post waits any more. */
  leaveUnwanted(): void {
    const unwanted = this.#places.filter(({ telling }) => !isWanted(telling));
    if (unwanted.length === 0) return;
    this.#places = this.#places.filter(({ telling }) => isWanted(telling));
    for (const { leave } of unwanted) leave();
  }
}
