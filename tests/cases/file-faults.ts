/** What may lie in the place of a secret's file, and what that becomes where it is read, listed, replaced and checked. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { giveAway } from "../platform/support/other-account.ts";
import type { Need } from "../support/requires.ts";

/** The value of the file where a row gives it one; no message may show it. */
export const FILE_VALUE = "canary-of-the-file";

/** One such row. */
export type FileFault = {
  name: string;
  /** Puts it at `path`, in a directory of the test's own with mode 0755. */
  make(path: string): void;
  /** The code with which it is refused; null where it is read. */
  refused: string | null;
  /** Whether it is as good as not there. */
  isAbsent: boolean;
  /** Its state in `secret list`, which opens no file. */
  listed: "set" | "wrong" | "missing";
  /** The code with which `secret set` refuses to replace it; null where it does. */
  notReplaced: string | null;
  /** What list and set call it where it is no regular file. */
  is?: string;
  needs: Need[];
};

type Row = Partial<Omit<FileFault, "name" | "make">>;

const row = (name: string, make: FileFault["make"], more: Row = {}): FileFault => ({
  ...{ name, make, refused: null, isAbsent: false, listed: "set", notReplaced: null, needs: [] },
  ...more,
});

const written =
  (content: string | Uint8Array, mode = 0o600) =>
  (path: string) => {
    writeFileSync(path, content);
    chmodSync(path, mode);
  };

const EXPOSED = { refused: "SECRET_FILE_EXPOSED", listed: "wrong" } as const;
const FOREIGN = { refused: "SECRET_FILE_UNTRUSTED", listed: "wrong", needs: ["root"] } satisfies Row;
const UNREADABLE = { refused: "SECRET_FILE_UNREADABLE", listed: "wrong" } as const;
const MALFORMED = { refused: "SECRET_MALFORMED" } as const;

/** The rows. */
export const FILE_FAULTS: FileFault[] = [
  row("a file of its reader alone", written(FILE_VALUE)),
  row("a file that nobody may write to", written(FILE_VALUE, 0o400)),
  ...[0o604, 0o640, 0o660, 0o620, 0o602].map((mode) =>
    row(`a file of mode 0${mode.toString(8)}`, written(FILE_VALUE, mode), EXPOSED),
  ),
  row("nothing", () => {}, { isAbsent: true, listed: "missing" }),
  row("an empty file", written(""), { isAbsent: true }),
  row("a file with blanks alone", written(" \n"), { isAbsent: true }),
  row("a link to nothing", (path) => symlinkSync(`${path}-nowhere`, path), {
    ...{ isAbsent: true, notReplaced: "SECRET_NOT_WRITTEN", listed: "wrong", is: "a link" },
  }),
  row(
    "a link to a file of its reader alone",
    (path) => {
      written(FILE_VALUE)(`${path}-target`);
      symlinkSync(`${path}-target`, path);
    },
    { notReplaced: "SECRET_NOT_WRITTEN", is: "a link" },
  ),
  row(
    "a link to a file that others may read",
    (path) => {
      written(FILE_VALUE, 0o644)(`${path}-target`);
      symlinkSync(`${path}-target`, path);
    },
    { refused: "SECRET_FILE_EXPOSED", notReplaced: "SECRET_NOT_WRITTEN", is: "a link" },
  ),
  row("a directory", (path) => mkdirSync(path), {
    ...{ ...UNREADABLE, notReplaced: "SECRET_NOT_WRITTEN", is: "a directory" },
  }),
  row("a named pipe", (path) => void spawnSync("mkfifo", ["-m", "600", path]), {
    ...{ ...UNREADABLE, notReplaced: "SECRET_NOT_WRITTEN", is: "a named pipe" },
  }),
  row("a file of unreasonable size", written("x".repeat(70_000)), { refused: "SECRET_FILE_UNREADABLE" }),
  row("two lines", written("first\nsecond"), MALFORMED),
  row("a carriage return in the middle", written("first\rsecond"), MALFORMED),
  row("two line breaks at the end", written("value\n\n"), MALFORMED),
  row("a NUL", written("first\0second"), MALFORMED),
  row("bytes that are not UTF-8", written(Uint8Array.of(0x61, 0xff, 0xfe)), {
    refused: "SECRET_FILE_UNREADABLE",
  }),
  row(
    "a file of another account",
    (path) => {
      written(FILE_VALUE)(path);
      giveAway(path);
    },
    FOREIGN,
  ),
  row(
    "a file in a directory of another account",
    (path) => {
      written(FILE_VALUE)(path);
      giveAway(dirname(path));
    },
    { ...FOREIGN, notReplaced: "FILE_UNTRUSTED" },
  ),
  row(
    "nothing, in a directory of another account",
    (path) => giveAway(dirname(path)),
    // The directory is not looked into, so that a missing file does not lead to the next source.
    { ...FOREIGN, notReplaced: "FILE_UNTRUSTED" },
  ),
  ...[0o770, 0o707].map((mode) =>
    row(
      `a file in a directory of mode 0${mode.toString(8)}`,
      (path) => {
        written(FILE_VALUE)(path);
        chmodSync(dirname(path), mode);
      },
      { refused: "SECRET_FILE_UNTRUSTED", listed: "wrong", notReplaced: "FILE_UNTRUSTED" },
    ),
  ),
];
