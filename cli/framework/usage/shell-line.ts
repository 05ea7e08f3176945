/** Words as a person types them into a shell: quoted where the shell would take them for something else. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

const PLAIN = /^[\w@%+=:,./-]+$/;
