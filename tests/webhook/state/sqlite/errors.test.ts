import { expect, test } from "bun:test";
import { isDamaged, isDiskFull, isFailed } from "../../../../lib/webhook/store/sqlite/errors.ts";

const errorOf = (fields: object, message = "") => Object.assign(new Error(message), fields);
const sqlite = (errcode: number) => errorOf({ code: "ERR_SQLITE_ERROR", errcode });
/** As Deno has it of what was not prepared. */
const textOnly = (message: string) => errorOf({ code: "ERR_SQLITE_ERROR" }, message);

const KINDS = { full: isDiskFull, failed: isFailed, damaged: isDamaged };

test.each([
  ["SQLITE_FULL", sqlite(13), ["full"]],
  ["SQLITE_IOERR_WRITE, as with a used-up quota", sqlite(778), ["failed"]],
  ["SQLITE_IOERR_SHMSIZE", sqlite(4_874), ["failed"]],
  ["SQLITE_IOERR_READ", sqlite(266), ["failed"]],
  ["SQLITE_BUSY", sqlite(5), []],
  ["SQLITE_READONLY", sqlite(8), []],
  ["SQLITE_CORRUPT", sqlite(11), ["damaged"]],
  ["SQLITE_CORRUPT_INDEX", sqlite(779), ["damaged"]],
  ["SQLITE_NOTADB", sqlite(26), ["damaged"]],
  ["a full disk as a text", textOnly("database or disk is full"), ["full"]],
  ["a failing disk as a text", textOnly("disk I/O error"), ["failed"]],
  ["a damaged file as a text", textOnly("file is not a database"), ["damaged"]],
  ["ENOSPC", errorOf({ code: "ENOSPC" }), ["full"]],
  ["EDQUOT", errorOf({ code: "EDQUOT" }), ["full"]],
  ["EIO", errorOf({ code: "EIO" }), ["failed"]],
  ["EACCES", errorOf({ code: "EACCES" }), []],
  ["no error", "ENOSPC", []],
])("%s is told apart", (_name, error, expected) => {
  const kinds = Object.entries(KINDS).filter(([, is]) => is(error));
  expect(kinds.map(([kind]) => kind)).toEqual(expected);
});
