import { basename, dirname } from "node:path";
import { oddSecrets } from "../../platform/config/names/odd-secrets.ts";

/**
 * The lines that mend what belongs to the service account, whole. NAME stands for an account, PATH for a path,
 * `PATH.old` for the path before it with that end, MEANT for the file of a secret for which the one before it is a slip
 * of the pen.
 *
 * Behaviour: a file is looked at before it is given to the account: where the account owned the directory once, it may
 *            have renamed a file of root's to this one.
 */
const OF_ACCOUNT = [
  "chmod 0600 PATH",
  "chmod o+x PATH",
  "chmod go-w PATH # unless others need it, as /tmp: then name another directory",
  "Look at it, then: chown -h NAME PATH",
  "Look at it, then: chown -h NAME:NAME PATH",
  "Look at it, then move it away: mv -nT PATH PATH.foreign",
  "mv -nT PATH MEANT",
  "install -D -m 0600 /dev/stdin PATH",
  "install -D -m 0600 -o NAME /dev/stdin PATH",
  "Remove it there, then: install -D -m 0600 -o NAME /dev/stdin PATH",
  "install -D -m 0600 -o NAME /dev/null PATH # then fill it in",
  "install -D -m 0600 -o NAME -g NAME /dev/null PATH # then fill it in",
  "install -d -o NAME -g NAME -m 0700 PATH",
  "install -d -o NAME -g NAME -m 0755 PATH",
  "mv -nT PATH PATH.old && install -d -o NAME -g NAME -m 0700 PATH",
  "mv -nT PATH PATH.old && install -d -o NAME -g NAME -m 0755 PATH",
  // Pasted as it is, a shell refuses it.
  "install -d -o NAME -g NAME -m 0700 <directory> # then name it in OPSCTL_STATE_DIR",
];
/** Those that only root's own checks write. */
const OF_ROOT = [
  "chmod o+rx PATH",
  "chmod 0644 PATH",
  "rmdir PATH",
  "install -d -m 0755 PATH",
  "mv -nT PATH PATH.old && install -d -m 0755 PATH",
];
/** All of them. */
export const CHANGING_LINES: readonly string[] = [...OF_ACCOUNT, ...OF_ROOT];
/** Let accounts pass through a directory and nothing more, or take rights away. */
const PASS_THROUGH = /^chmod (?:o\+x|go-w) /;

const BEGINS = /^(?:(?:Remove|Look at) it\b[^:]*: )?(?:(?:chown|chmod|mv|rmdir) |install -)/;
const PROGRAM = /(?<=^|: |&& )(?=(?:chmod|mv|install) )/g;
const PLAIN_PATH = /^(?:\/[\w.@%+,=:-]+)+$/;

/**
 * A line of the list, with the names of accounts and the paths that stand in it.
 *
 * Shape: `form` is the line as it is listed.
 */
export type ChangingLine = {
  text: string;
  form: string;
  names: readonly string[];
  paths: readonly string[];
  isOfAccount: boolean;
  isPassing: boolean;
};

/**
 * Reads a line that changes the owner, mode or name of a file, makes one, or removes one.
 *
 * Behaviour: "other" for a text that is none, "unknown" for one that begins so and is not listed. Root copies such a
 *            line into a shell: every word of it, between single blanks, is one of the list, the name of an account, or
 *            a plain path, and so a shell makes of it exactly the words that are judged here.
 */
export function parseChangingLine(text: string): ChangingLine | "unknown" | "other" {
  if (!BEGINS.test(text)) return "other";
  const words = text.split(" ");
  const form = CHANGING_LINES.find((one) => isOfForm(words, one.split(" ")));
  if (form === undefined) return "unknown";
  const slots = form.split(" ");
  const inSlot = (pattern: RegExp) => words.filter((_word, at) => pattern.test(slots[at] as string));
  return {
    text,
    form,
    names: inSlot(/^NAME/).flatMap((word) => word.split(":")),
    paths: inSlot(/^(?:PATH|MEANT)/),
    isOfAccount: OF_ACCOUNT.includes(form),
    isPassing: PASS_THROUGH.test(form),
  };
}

/**
 * The line as the account itself runs it: in directories that it owns, it could put a link between the advice and the
 * moment in which root follows it.
 *
 * Behaviour: an account gives away no file and takes none over: what belongs to another is moved away instead. `--pty`
 *            gives each command a terminal of its own, because into root's terminal the account could type.
 */
export function lineAsAccount({ text }: ChangingLine, account: string): string {
  // Every path begins with a slash, so that none of these words is one.
  return text
    .replaceAll(/ -[og] \S+/g, "")
    .replace(/chown -h \S+ (\S+)/, "mv -nT $1 $1.old")
    .replaceAll(PROGRAM, `runuser --pty -u ${account} -- `);
}

/** Whether a path is absolute, leads nowhere else as text, and has no character with a meaning in a shell. */
export function isPlainPath(text: string): boolean {
  return PLAIN_PATH.test(text) && !text.split("/").some((part) => part === "." || part === "..");
}

function isOfForm(words: readonly string[], slots: readonly string[]): boolean {
  return slots.length === words.length && slots.every((slot, at) => fits(slot, words[at], words[at - 1]));
}

function fits(slot: string, word = "", before = ""): boolean {
  if (slot === "NAME") return isName(word);
  if (slot === "NAME:NAME") return word.split(":").length === 2 && word.split(":").every(isName);
  if (slot === "PATH") return isPlainPath(word);
  if (slot.startsWith("PATH.")) return word === slot.replace("PATH", () => before);
  if (slot === "MEANT") return isPlainPath(word) && isSlip(before, word);
  return word === slot;
}

function isName(word: string): boolean {
  return /^[A-Za-z_][\w-]*$/.test(word);
}

/** Whether the name of a file, beside that of a secret, is a slip of the pen for it. */
function isSlip(path: string, meant: string): boolean {
  const [odd] = oddSecrets([basename(path)], { secrets: [basename(meant)], plain: [] });
  return dirname(path) === dirname(meant) && odd?.meant === basename(meant);
}
