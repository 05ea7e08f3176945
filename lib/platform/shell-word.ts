/** A text as one word of a shell: as it is where a shell reads nothing in it, else in quotes. */
export function shellWord(text: string): string {
  return /^[\w.@%+,=:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
