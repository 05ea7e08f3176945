const MIB = 2 ** 20;

/** What a state keeps for a full disk: rows of so many bytes in its file, and the length of its log. */
export type ReserveSize = { rows: number; rowBytes: number; logBytes: number };

/**
 * What the service keeps.
 *
 * Behaviour: the log is longer than what it holds between two checkpoints (4 MiB) and what moving that takes.
 */
export const RESERVE: ReserveSize = { rows: 32, rowBytes: MIB, logBytes: 16 * MIB };
