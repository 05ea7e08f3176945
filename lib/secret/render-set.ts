import { proseLines } from "../text/terminal/prose.ts";
import { NO_TERMINAL, type Screen } from "../text/terminal/screen.ts";

/** What `secret set` did. */
export type SecretSet = {
  name: string;
  path: string;
  owner: string;
  mode: string;
  isNew: boolean;
  usedBy: string[];
  next: string[];
  warnings: string[];
};

/** What was done and what has to be done next, for people. */
export function renderSecretSet(
  { name, path, owner, mode, isNew, usedBy, next, warnings }: SecretSet,
  screen: Screen = NO_TERMINAL,
): string {
  const done = `${name} is ${isNew ? "set" : "replaced"}: ${path} (${owner} ${mode}), for ${listed(usedBy)}`;
  const then =
    next.length === 0
      ? [usedBy.length === 1 ? "It is read at the next start." : "Each of them reads it at its next start."]
      : ["So that it counts in what runs already:"];
  return [
    ...[done, ...warnings.map((text) => `Note: ${text}`)].flatMap((line) =>
      proseLines(line, screen, { indent: "  " }),
    ),
    ...then,
    ...next.map((line) => `  ${line}`),
    "",
  ].join("\n");
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
