import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { complete } from "../../../cli/completion/complete.ts";
import { lineWords } from "../../../cli/completion/line-words.ts";
import type { Offer } from "../../../cli/completion/offer.ts";
import { pastMondays } from "../../../cli/completion/past-mondays.ts";
import { strictArguments } from "../../../cli/framework/usage/arguments.ts";
import { root } from "../../../cli/root.ts";
import { LIST_STATES } from "../../../lib/reports/list.ts";
import { eachCommand } from "../support/each-command.ts";

const NOW = new Date("2026-11-25T12:00:00Z");
const MONDAYS = ["2026-11-16", "2026-11-09", "2026-11-02", "2026-10-26"];

async function offered(line: string): Promise<string[] | "directories"> {
  const offers = await complete(lineWords(line).slice(1), root, NOW);
  return offers === "directories" ? offers : offers.map(({ value }) => value);
}

describe("complete()", () => {
  test.each<[string, string[]]>([
    ["opsctl re", ["reports"]],
    ["opsctl webhook d", ["dead"]],
    ["opsctl webhook dead ", ["list", "retry", "drop"]],
    ["opsctl --v", ["--version"]],
    ["opsctl webhook -", ["--help"]],
    ["opsctl weakly ", []],
    ["opsctl weekly --skip", ["--skip-whatsapp", "--skip-email", "--skip-editorials"]],
    ["opsctl weekly --skip-email --skip", ["--skip-whatsapp", "--skip-editorials"]],
    ["opsctl weekly --skip-email=x --skip-e", ["--skip-editorials"]],
    ["opsctl weekly x", []],
    ["opsctl weekly --tenant ", []],
    ["opsctl weekly -- --skip", []],
    ["opsctl reports list --state ", [...LIST_STATES]],
    ["opsctl reports list --state=mi", ["--state=missing"]],
    ["opsctl reports list --nothing=mi", []],
    ["opsctl reports list --json --week 2026-10-2", ["2026-10-26"]],
    ["opsctl deliveries reconcile --reason 'a: b=c --to' --to ", ["sent", "failed"]],
    ["opsctl deliveries reconcile some-id --to f", ["failed"]],
    ["opsctl doctor soc", ["socket-monitor"]],
    ["opsctl doctor weekly --j", ["--json"]],
    ["opsctl doctor -- soc", ["socket-monitor"]],
    ["opsctl doctor weekly soc", []],
    ["opsctl help webhook de", ["dead"]],
    ["opsctl help weekly ", ["--help"]],
    ["opsctl completion ", ["bash", "zsh", "fish"]],
    ["opsctl explain WEEK_O", ["WEEK_OPEN"]],
    ["opsctl secret set HOST", ["HOSTING_TOKEN"]],
    ["opsctl migrate --log-format ", ["text", "json"]],
    ["opsctl constructor ", []],
    ["opsctl weekly --constructor ", ["--dry-run"]],
  ])("offers behind %p %p", async (line, expected) => {
    const offers = await offered(line);
    expect(line.endsWith("--constructor ") ? offers.slice(0, 1) : offers).toEqual(expected);
  });

  test("offers the last eight weeks that have closed, the newest first", async () => {
    const weeks = await offered("opsctl reports show --week ");
    expect(weeks).toHaveLength(8);
    expect(weeks.slice(0, 4)).toEqual(MONDAYS);
  });

  test("offers only weeks that may be pruned: content is kept for eight weeks after they have closed", async () => {
    expect((await offered("opsctl reports prune --before "))[0]).toBe("2026-09-28");
  });

  test("leaves directories to the shell", async () => {
    expect(await offered("opsctl reports preview --out ")).toBe("directories");
    expect(await offered("opsctl doctor --env-dir=/e")).toBe("directories");
  });

  test("offers options of every command, each with a few words", async () => {
    const commands = await eachCommand();
    expect(commands.length).toBeGreaterThan(20);
    for (const { words, command } of commands) {
      const offers = await complete([...words, "--"], root, NOW);
      const options = Object.entries(command.args).filter(([, { type }]) => type !== "positional");
      expect(offers).toHaveLength(options.length + 1);
      for (const { about } of offers as readonly Offer[]) expect(about.length).toBeGreaterThan(5);
    }
  });

  test("offers only values that the command takes", async () => {
    const refused: string[] = [];
    for (const { words, command } of await eachCommand())
      for (const name of Object.keys(command.args)) {
        const isWord = command.args[name]!.type === "positional";
        const line = isWord ? [...words, ""] : [...words, `--${name}`, ""];
        if (command.args[name]!.type === "boolean") continue;
        const offers = await complete(line, root, NOW);
        if (offers === "directories") continue;
        for (const { value } of offers.filter((offer) => !offer.value.startsWith("--"))) {
          const given = isWord ? [value] : [`--${name}`, value];
          const checked = strictArguments(given, command);
          if ("problem" in checked && /expects|is no/.test(checked.problem)) refused.push(checked.problem);
        }
      }
    expect(refused).toEqual([]);
  });

  test("never throws, whatever is typed, and offers only what goes on from it", async () => {
    const word = fc.oneof(
      fc.constantFrom("reports", "list", "--state", "--week=", "--", "-", "", "deliveries", "help", "--out"),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 6 }), async (words) => {
        const offers = await complete(words, root, NOW);
        if (offers === "directories") return;
        expect(offers.filter(({ value }) => !value.startsWith(words.at(-1) ?? ""))).toEqual([]);
      }),
    );
  });
});

describe("lineWords()", () => {
  test.each<[string, string[]]>([
    ["", [""]],
    ["opsctl ", ["opsctl", ""]],
    ["opsctl  a\tb", ["opsctl", "a", "b"]],
    ["a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]],
    ["a 'b c", ["a", "b c"]],
    ['a "b c', ["a", "b c"]],
    ['a "b\\"c"', ["a", 'b"c']],
    ['a "b\\nc"', ["a", "b\\nc"]],
    ["a 'b'\"c\"d", ["a", "bcd"]],
    ["a ''", ["a", ""]],
    ["a '' ", ["a", "", ""]],
    ["a \\", ["a", ""]],
    ['a "b\\', ["a", "b"]],
    ["--reason a:b=c", ["--reason", "a:b=c"]],
  ])("reads %p as %p", (line, words) => {
    expect(lineWords(line)).toEqual(words);
  });

  test("reads back words that were quoted", () => {
    const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (words) => {
        expect(lineWords(words.map(quoted).join(" "))).toEqual(words);
      }),
    );
  });
});

describe("pastMondays()", () => {
  test.each([
    ["2026-11-23T02:59:59Z", "2026-11-09"], // still Sunday in São Paulo
    ["2026-11-23T03:00:00Z", "2026-11-16"],
    ["2026-11-29T12:00:00Z", "2026-11-16"],
    ["2027-01-04T12:00:00Z", "2026-12-28"],
  ])("at %s begins with the week of %s", (now, monday) => {
    expect(pastMondays(new Date(now), { count: 2, skipped: 0 })[0]).toBe(monday);
  });
});
