/**
 * The first word of a command line that opsctl gives to a child process of its own; no help lists it.
 *
 * Behaviour: in a file that imports nothing, because every start of opsctl loads it.
 */
export const INTERNAL = "internal";
