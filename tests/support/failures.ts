/** What `bun test` prints above the tests of a file, after each test, and above the names of those that failed. */
const FILE = /^(?:::group::)?(\S+\.test\.ts):$/;
const ENDED = /^(?:\((pass|fail|skip|todo)\)|([✓✗»✎])) (.*?)(?: \[[\d.]+m?s\])?$/;
const REPEATED = /^\d+ tests? failed:$/;
const ERROR = /^error: /;

/** The tests that failed, as `file: name`, and what was said of them: errors, seeds and values of properties. */
export type Failures = { tests: string[]; said: string[] };

/**
 * The failures in what `bun test` printed.
 *
 * Behaviour: what a quick test says of its failure, Bun may print after other tests, so all errors are taken.
 */
export function failuresIn(printed: string): Failures {
  const failures: Failures = { tests: [], said: [] };
  let file = "";
  let lines: string[] = [];
  for (const line of printed.split("\n")) {
    if (REPEATED.test(line)) break;
    const heading = FILE.exec(line);
    const ended = ENDED.exec(line);
    if (heading === null && ended === null) {
      lines.push(line);
      continue;
    }
    const hasFailed = ended?.[1] === "fail" || ended?.[2] === "✗";
    if (hasFailed) failures.tests.push(`${file}: ${ended![3]}`);
    if (hasFailed || hasError(lines)) failures.said.push(lines.join("\n").trim());
    file = heading?.[1] ?? file;
    lines = [];
  }
  if (hasError(lines)) failures.said.push(lines.join("\n").trim());
  return { ...failures, said: failures.said.filter((said) => said !== "") };
}

function hasError(lines: readonly string[]): boolean {
  return lines.some((line) => ERROR.test(line));
}
