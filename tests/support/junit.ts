/** What one `bun test` did: counts, the titles of skipped tests, and the files of which no test ran. */
export type Result = { passed: number; failed: number; skipped: string[]; withoutTests: string[] };

/**
 * Reads the report that `bun test --reporter=junit` wrote.
 *
 * Shape: `files` are those that were to run. A file whose tests were all skipped has run; a file that failed to load is
 *        not in the report and counts as one without tests.
 */
export function readJunit(xml: string, files: readonly string[]): Result {
  const result: Result = { passed: 0, failed: 0, skipped: [], withoutTests: [] };
  const seen = new Set<string>();
  for (const [, attributes, body] of xml.matchAll(/<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)) {
    const value = (name: string) =>
      unescaped(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes!)?.[1] ?? "");
    seen.add(value("file"));
    if (body?.includes("<failure")) result.failed += 1;
    else if (body?.includes("<skipped"))
      result.skipped.push(`${value("file")}: ${value("classname")} ${value("name")}`);
    else result.passed += 1;
  }
  result.withoutTests = files.filter((file) => !seen.has(file));
  return result;
}

function unescaped(text: string): string {
  const characters: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => characters[name]!);
}
