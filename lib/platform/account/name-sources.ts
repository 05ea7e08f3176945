import { textOrEmpty } from "../text-or-empty.ts";

/** The lists of a host that a program looks into by name or number. */
export type HostList = "passwd" | "group";

/** The list itself, and systemd, which adds only accounts that a unit borrows while it runs. */
const FILES: readonly string[] = ["files", "systemd"];

/** The text of the host's nsswitch.conf; empty where it has none. */
export function nameSources(path = "/etc/nsswitch.conf"): string {
  return textOrEmpty(path);
}

/**
 * Whether a host looks for accounts in /etc/passwd alone, by the text of its nsswitch.conf.
 *
 * Behaviour: false where the text does not say it, or says what to do about a source that fails.
 * Source:    nsswitch.conf(5), nss-systemd(8).
 */
export function hasFilesAlone(text: string): boolean {
  return asksFilesFirst(text, "passwd") && sourcesOf(text, "passwd").every((one) => FILES.includes(one));
}

/**
 * Whether what stands in the file of a list, such as /etc/passwd, is found there without any other source being asked.
 *
 * Behaviour: false where the text does not say it, or says what to do after the file was asked.
 * Source:    nsswitch.conf(5): the first source that has it ends the search.
 */
export function asksFilesFirst(text: string, list: HostList): boolean {
  const [first, second = ""] = sourcesOf(text, list);
  return first === "files" && !second.startsWith("[");
}

/** The words of a list's line; none where the text has no such line, or several. */
function sourcesOf(text: string, list: HostList): string[] {
  const lines = [...text.matchAll(new RegExp(`^\\s*${list}\\s*:([^#\\n]*)`, "gm"))];
  return lines.length === 1 ? (lines[0]?.[1]?.trim().split(/\s+/) ?? []) : [];
}
