import { describe, expect, test } from "bun:test";
import {
  isDiskFull,
  isDiskTrouble,
  isReadOnly,
} from "../../../../lib/webhook/state/sqlite/file/open-sqlite.ts";

const errorOf = (fields: object, message = "") => Object.assign(new Error(message), fields);
const sqlite = (errcode: number) => errorOf({ code: "ERR_SQLITE_ERROR", errcode });
/** As Deno has it of what was not prepared. */
const textOnly = (message: string) => errorOf({ code: "ERR_SQLITE_ERROR" }, message);

describe("isDiskFull() and isDiskTrouble()", () => {
  test.each([
    ["SQLITE_FULL", sqlite(13), true, true],
    ["SQLITE_IOERR_WRITE, as with a used-up quota", sqlite(778), true, true],
    ["SQLITE_IOERR_SHMSIZE", sqlite(4_874), true, true],
    ["SQLITE_IOERR_READ", sqlite(266), false, true],
    ["SQLITE_BUSY", sqlite(5), false, false],
    ["SQLITE_CORRUPT", sqlite(11), false, false],
    ["SQLITE_READONLY", sqlite(8), false, false],
    ["a full disk as a text", textOnly("database or disk is full"), true, true],
    ["a failing disk as a text", textOnly("disk I/O error"), false, true],
    ["a damaged file as a text", textOnly("file is not a database"), false, false],
    ["ENOSPC", errorOf({ code: "ENOSPC" }), true, true],
    ["EDQUOT", errorOf({ code: "EDQUOT" }), true, true],
    ["EIO", errorOf({ code: "EIO" }), false, true],
    ["EACCES", errorOf({ code: "EACCES" }), false, false],
    ["no error", "ENOSPC", false, false],
  ])("%s", (_name, error, isFull, isTrouble) => {
    expect([isDiskFull(error), isDiskTrouble(error)]).toEqual([isFull, isTrouble]);
  });
});

describe("isReadOnly()", () => {
  test.each([
    ["SQLITE_READONLY", sqlite(8), true],
    ["SQLITE_READONLY_DIRECTORY", sqlite(1_544), true],
    ["the same as a text", textOnly("attempt to write a readonly database"), true],
    ["EROFS", errorOf({ code: "EROFS" }), true],
    ["SQLITE_FULL", sqlite(13), false],
    ["EACCES", errorOf({ code: "EACCES" }), false],
    ["no error", "EROFS", false],
  ])("%s", (_name, error, expected) => {
    expect(isReadOnly(error)).toBe(expected);
  });
});
