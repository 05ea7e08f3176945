/** What `bun test` prints above the tests of a file, and before each test. */
const FILE = /^(?:::group::)?(\S+\.test\.ts):$/;
const RAN = /^(?:\((?:pass|fail)\)|[✓✗]) /;
const SKIPPED = /^(?:\(skip\)|») (.*)/;

/**
 * The files of which no test ran and that do not say why; Bun itself counts such a file as a success.
 *
 * Behaviour: a file says why in the name of a skipped test, with the words "not tried".
 */
export function filesWithoutTests(said: string, files: readonly string[]): string[] {
  const accounted = new Set<string>();
  let file = "";
  for (const line of said.split("\n")) {
    file = FILE.exec(line)?.[1] ?? file;
    if (RAN.test(line) || /not tried/i.test(SKIPPED.exec(line)?.[1] ?? "")) accounted.add(file);
  }
  return files.filter((each) => !accounted.has(each));
}
