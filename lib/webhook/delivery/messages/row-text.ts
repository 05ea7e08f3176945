import type { Begun, DueRow, State } from "../../state/contract.ts";
import { priorityOf } from "../../state/stored.ts";
import type { ToldRows } from "./message-texts.ts";

/** What an attempt sends, and what its beginning records: `begun` is null where the row keeps the text that it has. */
export type RowText = { text: string; begun: Begun | null };

/** What making the text of a row needs. */
export type RowTextDependencies = {
  state: Pick<State, "membersOf">;
  textOf: (rows: ToldRows) => string | Promise<string>;
  /** False where a text says nothing of its time, and while one may have left a copy (see `mayRenewText`). */
  isRenewed: boolean;
};

/**
 * The text of a row's next attempt.
 *
 * Behaviour: made anew for each attempt, so that a message that was refused for an hour says so, until one may have
 *            left a copy: from then on the text stays as it is, because the copy is looked for by it. A row tells the
 *            same alerts each time.
 * Errors:    those of `textOf`.
 */
export async function rowText(
  rows: ToldRows,
  { state, textOf, isRenewed }: RowTextDependencies,
): Promise<RowText> {
  const [row, ...others] = rows;
  if (row.text === null) {
    const text = await textOf(rows);
    return { text, begun: { text, members: others.map(({ id }) => id) } };
  }
  const kept = { text: row.text, begun: null };
  if (!isRenewed) return kept;
  // A state that cannot be read now must not end the row.
  const members = row.members.length === 0 ? [] : await state.membersOf(row.id).catch(() => null);
  if (members === null) return kept;
  const text = await textOf([row, ...inOrderOfTurn(members)]);
  return { text, begun: { text } };
}

/** As the first text had them: the fingerprints in the order of their turn, within one the oldest first. */
function inOrderOfTurn(rows: readonly DueRow[]): DueRow[] {
  const byFingerprint = Map.groupBy(rows, ({ alert }) => alert.fingerprint);
  return [...byFingerprint.values()].sort(([a], [b]) => priorityOf(a!.alert) - priorityOf(b!.alert)).flat();
}
