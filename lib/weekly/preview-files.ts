import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { OpsError } from "../platform/errors.ts";
import { writeFileAtomic } from "../platform/files/atomic-file.ts";
import type { Preview } from "./preview.ts";

/** For the account that runs the command alone: a report is its owner's. */
const [DIRECTORY_MODE, FILE_MODE] = [0o700, 0o600];

/**
 * Writes a preview's messages into `directory`, byte by byte as they are sent, and returns the paths.
 *
 * Shape:  `<week>.<user id>.email.html`, `….email.txt`, and `….whatsapp.txt` where there is such a message.
 * Errors: PREVIEW_UNWRITABLE.
 */
export function writePreviewFiles(directory: string, { week, userId, email, whatsapp }: Preview): string[] {
  const texts: [string, string | null][] = [
    ["email.html", email.html],
    ["email.txt", email.text],
    ["whatsapp.txt", whatsapp],
  ];
  try {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    return texts.flatMap(([name, text]) => {
      if (text === null) return [];
      const path = join(directory, `${week}.${userId}.${name}`);
      writeFileAtomic(path, text, { mode: FILE_MODE });
      return [path];
    });
  } catch (error) {
    throw unwritable(directory, error);
  }
}

function unwritable(directory: string, error: unknown): OpsError {
  const { code, name } = error as NodeJS.ErrnoException;
  return new OpsError({
    code: "PREVIEW_UNWRITABLE",
    message: `Cannot write the preview into ${directory}: ${code ?? name}`,
    hint: "Name a directory that the account which runs the command may write to",
  });
}
