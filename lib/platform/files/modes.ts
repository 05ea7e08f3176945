/** The bits of a mode that let group or others change a file. */
export const WRITABLE_BY_OTHERS = 0o022;

/** Permissions as they are written: `0600`. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** The bit with which only the owner of an entry may exchange it in a directory. */
export const STICKY = 0o1000;

/** The bits of a file's mode that let group or others read or change it; who may only execute it learns nothing of it. */
export const READ_OR_WRITTEN_BY_OTHERS = 0o066;
