/** The bits of a mode that let group or others change a file. */
export const WRITABLE_BY_OTHERS = 0o022;

/** The bits of a mode that let group or others do anything with a file. */
export const OPEN_TO_OTHERS = 0o077;
