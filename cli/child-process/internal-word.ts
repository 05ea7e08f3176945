/** The first word of what opsctl says to a child of its own; no command for people, so no help lists it. */
export const INTERNAL = "internal";
