import { afterEach, expect, test } from "bun:test";
import { userInfo } from "node:os";
import { handedInput, handedSecret } from "../../../cli/child-process/handed-input.ts";
import { loginName } from "../../../cli/framework/login-name.ts";
import { starterMark, starterOf } from "../../../lib/platform/account/started-by.ts";

const NAMES = ["OPSCTL_STARTED_BY", "OPSCTL_HANDED_INPUT"];
afterEach(() => {
  for (const name of NAMES) delete process.env[name];
});

const ofParent = starterMark("alice", process.ppid);
const [, pid = "", start = ""] = ofParent.split(":");

test("starterOf() is the name in a mark of this process's parent", () => {
  expect(starterOf({ OPSCTL_STARTED_BY: ofParent })).toBe("alice");
  expect(start).toMatch(/^\d+$/);
});

test("starterOf() takes a mark without a beginning, as one who cannot see it makes it", () => {
  expect(starterOf({ OPSCTL_STARTED_BY: `alice:${pid}:` })).toBe("alice");
});

test.each([
  ["the name alone", "alice"],
  ["nothing", ""],
  ["that of another process", starterMark("alice")],
  ["that of a process which had the parent's number before", `alice:${pid}:${Number(start) - 1}`],
  ["one with words behind it", `${ofParent} more`],
])("starterOf() is null for %s", (_what, mark) => {
  expect(starterOf({ OPSCTL_STARTED_BY: mark })).toBeNull();
});

test("starterOf() is null without a mark", () => expect(starterOf({})).toBeNull());

test("loginName() is the name in the mark, and not one that a shell has exported", () => {
  process.env.OPSCTL_STARTED_BY = ofParent;
  expect(loginName()).toBe("alice");
  process.env.OPSCTL_STARTED_BY = "alice";
  expect(loginName()).toBe(userInfo().username);
});

test("handedInput() waits for no input when a shell has exported its variable", () => {
  for (const value of ["1", starterMark("root")]) {
    process.env.OPSCTL_HANDED_INPUT = value;
    expect([handedInput(), handedSecret()]).toEqual([null, null]);
  }
});
