/** The bits of a mode that let group or others change a file. */
export const WRITABLE_BY_OTHERS = 0o022;

/** Permissions as they are written: `0600`. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** The bits of a mode that let group or others do anything with a file. */
export const OPEN_TO_OTHERS = 0o077;
