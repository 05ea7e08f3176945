import { listedValues, namesOf, type Option, type Options, positionalAt } from "../args/options.ts";
import { type Command, findEntry, type Group } from "../framework/command.ts";
import { writeOut } from "../output.ts";

/** What can stand at the cursor, and a few words about it; or a directory, which the shell itself finds. */
type Offers = readonly { value: string; about: string }[] | "directories";

const HELP = { value: "--help", about: "Show this help" };
const VERSION = { value: "--version", about: "Show version and commit" };

const WEEKS = 8;
/** Every week keeps its content for eight weeks after it has closed. */
const KEPT_WEEKS = 7;
const DAY_MS = 86_400_000;

/**
 * Prints what can stand at the cursor, for the scripts of `opsctl completion`.
 *
 * Shape:     `words <word>…` are the words behind the program's name; `line <line> <word>` is what bash knows: the line
 *            up to the cursor, and what bash takes for the last word. A line each: the word, a tab, what it is; of a
 *            directory only `:directories`.
 * Behaviour: prints nothing when anything is wrong: it runs while a person types.
 */
export async function printOffers([form, ...rest]: readonly string[], program: Group): Promise<void> {
  try {
    const [line = "", seen = ""] = rest;
    const words = form === "line" ? lineWords(line).slice(1) : rest;
    const typed = words.at(-1) ?? "";
    const offers = await complete(typed, words.slice(0, -1), program);
    // bash breaks words at `=` and `:`, and has what stands before behind it already.
    const known = form === "line" && typed.endsWith(seen) ? typed.length - seen.length : 0;
    const lines =
      offers === "directories"
        ? [":directories"]
        : offers.map(({ value, about }) => `${value.slice(known)}\t${about}`);
    writeOut(lines.map((one) => `${one}\n`).join(""));
  } catch {} // Nothing is offered.
}

/** The words of a line up to the cursor, as a shell reads them; the last one may be empty, or its quote still open. */
function lineWords(line: string): string[] {
  const words: string[] = [];
  const part = /'([^']*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|\\?$)|\\(.)|([^\s'"\\]+)|(\s+)|\\$/gsy;
  let word: string | null = null;
  for (const [, single, double, escaped, plain, blanks] of line.matchAll(part)) {
    if (blanks !== undefined) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? "") + (single ?? double?.replace(/\\(["$`\\])/g, "$1") ?? escaped ?? plain ?? "");
  }
  return [...words, word ?? ""];
}

/** What begins with the `typed` word behind the words `before` it; nothing behind what opsctl would not take. */
async function complete(typed: string, before: readonly string[], program: Group): Promise<Offers> {
  const { entry, rest } = findEntry(program, before);
  let offers: Offers = [];
  if ("load" in entry) offers = await inCommand(await entry.load(), rest, { typed, program });
  else if (rest.length === 0 && typed.startsWith("-")) offers = entry === program ? [HELP, VERSION] : [HELP];
  else if (rest.length === 0) offers = commandsOf(entry);
  return offers === "directories" ? offers : offers.filter(({ value }) => value.startsWith(typed));
}

async function inCommand(
  command: Command,
  before: readonly string[],
  { typed, program }: { typed: string; program: Group },
): Promise<Offers> {
  const { args } = command;
  const { positionals, given, open, isPastOptions } = readWords(before, args);
  const valuesOf = async (name: string | undefined) =>
    name !== undefined && Object.hasOwn(args, name)
      ? await offeredValues(args[name]!, positionals, program)
      : [];
  if (open !== null) return await valuesOf(open);
  const options = namesOf("option", args)
    .filter((name) => !given.includes(name))
    .map((name) => ({ value: `--${name}`, about: args[name]!.description ?? "" }));
  if (typed.startsWith("-") && !isPastOptions) {
    const [, name] = /^--([^=]+)=/.exec(typed) ?? [];
    if (name === undefined) return [...options, HELP];
    const offers = await valuesOf(name);
    return offers === "directories"
      ? offers
      : offers.map(({ value, about }) => ({ value: `--${name}=${value}`, about }));
  }
  const offers = await valuesOf(positionalAt(positionals.length, command));
  return offers.length === 0 && typed === "" && !isPastOptions ? [...options, HELP] : offers;
}

/**
 * Reads the words before the cursor as `parseWords` does, without loading what judges them; `open` is the option whose
 * value comes next.
 */
function readWords(words: readonly string[], args: Options) {
  const positionals: string[] = [];
  const given: string[] = [];
  let open: string | null = null;
  let isPastOptions = false;
  for (const word of words) {
    if (open !== null) open = null;
    else if (isPastOptions || !word.startsWith("-") || word === "-") positionals.push(word);
    else if (word === "--") isPastOptions = true;
    else {
      const [, name = "", value] = /^--([^=]*)(=.*)?$/s.exec(word) ?? [];
      given.push(name);
      const hasValue = Object.hasOwn(args, name) && args[name]!.type !== "boolean";
      if (hasValue && value === undefined) open = name;
    }
  }
  return { positionals, given, open, isPastOptions };
}

/** What an option or argument may be given; nothing where that is not known. */
async function offeredValues(
  option: Option,
  positionals: readonly string[],
  program: Group,
): Promise<Offers> {
  const listed = listedValues(option) ?? [];
  if (listed === "directories") return listed;
  if (listed === "commands") {
    const { entry, rest } = findEntry(program, positionals);
    return "load" in entry || rest.length > 0 ? [] : commandsOf(entry);
  }
  if (listed === "codes") {
    const { codes } = await import("../commands/static/explain.ts");
    return codes.codes().map(({ code, section }) => ({ value: code, about: section }));
  }
  const values = typeof listed === "string" ? pastMondays(listed === "weeks" ? 0 : KEPT_WEEKS) : listed;
  return values.map((value) => ({ value, about: "" }));
}

function commandsOf({ commands }: Group): Offers {
  return Object.entries(commands).map(([value, { description }]) => ({ value, about: description }));
}

/** First days of weeks that have closed in São Paulo, the newest first, `skipped` weeks earlier. */
function pastMondays(skipped: number): string[] {
  const date = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/Sao_Paulo" }).format(new Date());
  const today = new Date(`${date}T00:00:00Z`);
  const sinceMonday = (today.getUTCDay() + 6) % 7;
  return Array.from({ length: WEEKS }, (_, at) => {
    const days = sinceMonday + 7 * (1 + skipped + at);
    return new Date(today.getTime() - days * DAY_MS).toISOString().slice(0, 10);
  });
}
