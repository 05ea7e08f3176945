import type { Command } from "./changing-line.ts";

/**
 * A command that changes files, as the account itself runs it: in directories that it owns, it could put a link between
 * the advice and the moment in which root follows it.
 *
 * Behaviour: an account gives away no file and takes none over: what belongs to another is moved away instead. `--pty`
 *            gives each command a terminal of its own, because into root's terminal the account could type.
 */
export function commandAsAccount(command: Command, account: string): Command {
  return { ...command, words: ["runuser", "--pty", "-u", account, "--", ...ownWords(command)] };
}

function ownWords({ words, form, paths: [path = ""] }: Command): readonly string[] {
  if (form.startsWith("chown ")) return ["mv", "-nT", path, `${path}.old`];
  return words.filter((word, at) => ![word, words[at - 1]].some((one) => one === "-o" || one === "-g"));
}
