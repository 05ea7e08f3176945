/** What stands for a word of a command: the name of an account, twice for owner and group, or a path. */
const SLOTS: Readonly<Record<string, (word: string) => boolean>> = {
  NAME: isName,
  "NAME:NAME": (word) => word.split(":").length === 2 && word.split(":").every(isName),
  PATH: isPlainPath,
};

const OWNERS = ["", " -o NAME", " -o NAME -g NAME"];

/** The commands that mend what belongs to the service account. */
const OF_ACCOUNT = [
  "chown -h NAME PATH",
  "chown -h NAME:NAME PATH",
  "chmod 0600 PATH",
  "chmod o+x PATH",
  "chmod go-w PATH",
  "mv -nT PATH PATH",
  ...OWNERS.flatMap((owners) => [
    `install -D -m 0600${owners} /dev/stdin PATH`,
    `install -D -m 0600${owners} /dev/null PATH`,
    `install -d${owners} -m 0700 PATH`,
    `install -d${owners} -m 0755 PATH`,
  ]),
  // Pasted as it is, a shell refuses it.
  "install -d -o NAME -g NAME -m 0700 <directory>",
];
/** The commands that only root's own checks write. */
const OF_ROOT = ["chmod o+rx PATH", "chmod 0644 PATH", "rmdir PATH"];

/**
 * Before a file is given to the account: where the account owned the directory once, it may have renamed a file of
 * root's to this one.
 */
export const LOOK_FIRST = "Look at it, then: ";
/** What is said before such a command. */
const BEFORE = ["Remove it there, then: ", "Look at it, then move it away: ", LOOK_FIRST];
/** What is noted behind one. */
const NOTES: readonly (string | null)[] = [
  null,
  "then fill it in",
  "then name it in OPSCTL_STATE_DIR",
  "unless others need it, as /tmp: then name another directory",
];
const BEGINS = /^(?:chown|chmod|mv|rmdir) |^install -/;
const PLAIN_PATH = /^(?:\/[\w.@%+,=:-]+)+$/;

/**
 * A command that changes the owner, mode or name of a file, makes one, or removes one.
 *
 * Shape: `form` is the command with NAME and PATH for its names of accounts and its paths, which are in `names` and
 *        `paths` in their order; the source of `install` is a part of the form. `words` are what a shell makes of it.
 */
export type Command = {
  words: readonly string[];
  form: string;
  names: readonly string[];
  paths: readonly string[];
  isOfAccount: boolean;
};

/** A line with such commands: what is said before them, and the note behind them. */
export type ChangingLine = { before: string; commands: readonly Command[]; note: string | null };

/** What a text is: such a line, one with a path that is not plain, one that opsctl does not write, or another text. */
export type ParsedLine =
  | ({ status: "line" } & ChangingLine)
  | { status: "odd" }
  | { status: "unknown" }
  | { status: "other" };

/**
 * Reads a line that changes files.
 *
 * Behaviour: root copies such a line into a shell. Every word of it, between single blanks, is a word that opsctl
 *            writes, the name of an account, or a plain path, and so a shell makes of it exactly the words that are
 *            judged here.
 */
export function parseChangingLine(text: string): ParsedLine {
  const before = BEFORE.find((words) => text.startsWith(words)) ?? "";
  const rest = text.slice(before.length);
  if (!BEGINS.test(rest)) return { status: "other" };
  const at = rest.indexOf(" # ");
  const note = at === -1 ? null : rest.slice(at + 3);
  const texts = (at === -1 ? rest : rest.slice(0, at)).split(" && ").map((one) => one.split(" "));
  const commands = texts.flatMap((words) => parseCommand(words) ?? []);
  if (commands.length < texts.length) return { status: texts.some(hasOddPath) ? "odd" : "unknown" };
  return NOTES.includes(note) ? { status: "line", before, commands, note } : { status: "unknown" };
}

/** The line as it is copied. */
export function changingLineText({ before, commands, note }: ChangingLine): string {
  const texts = commands.map(({ words }) => words.join(" "));
  return `${before}${texts.join(" && ")}${note === null ? "" : ` # ${note}`}`;
}

/** Whether a path is absolute, leads nowhere else as text, and has no character with a meaning in a shell. */
export function isPlainPath(text: string): boolean {
  return PLAIN_PATH.test(text) && !text.split("/").some((part) => part === "." || part === "..");
}

type Form = { form: string; slots: readonly string[]; isOfAccount: boolean };

const FORMS: readonly Form[] = [
  ...OF_ACCOUNT.map((form) => ({ form, slots: form.split(" "), isOfAccount: true })),
  ...OF_ROOT.map((form) => ({ form, slots: form.split(" "), isOfAccount: false })),
];

function parseCommand(words: readonly string[]): Command | null {
  const found = FORMS.find(
    ({ slots }) => slots.length === words.length && slots.every((slot, at) => fits(slot, words[at])),
  );
  if (found === undefined) return null;
  const inSlot = (pattern: RegExp) => words.filter((_word, at) => pattern.test(found.slots[at] as string));
  const names = inSlot(/^NAME/).flatMap((word) => word.split(":"));
  return { words, form: found.form, names, paths: inSlot(/^PATH$/), isOfAccount: found.isOfAccount };
}

/** Whether a command is one of these up to its path, and what comes then is not its path. */
function hasOddPath(words: readonly string[]): boolean {
  if (parseCommand(words) !== null) return false;
  return FORMS.some(({ slots }) => {
    const path = slots.indexOf("PATH");
    return (
      path !== -1 && path < words.length && slots.slice(0, path).every((slot, at) => fits(slot, words[at]))
    );
  });
}

function fits(slot: string, word = ""): boolean {
  return SLOTS[slot]?.(word) ?? word === slot;
}

function isName(word: string): boolean {
  return /^[A-Za-z_][\w-]*$/.test(word);
}
