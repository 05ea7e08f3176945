import { expect, test } from "bun:test";
import { guardCapability, hasCapability } from "../../../cli/child-process/guard-capability.ts";

const status = (permitted: string, bounding = permitted) =>
  `Name:\topsctl\nCapInh:\t000001ffffffffff\nCapPrm:\t${permitted}\nCapEff:\t${permitted}\nCapBnd:\t${bounding}\n`;
const ALL = "000001ffffffffff";
/** What Docker gives a container, and what Podman does. */
const [DOCKER, PODMAN] = ["00000000a80425fb", "00000000800405fb"];

test.each([
  ["root on a host", status(ALL), "block_suspend"],
  ["root of a container of Docker", status(DOCKER), "audit_write"],
  ["root of a container of Podman", status(PODMAN), null],
  // What is not in the bounding set cannot be made inheritable, and what is not permitted not passed on.
  ["a bounding set without it", status(ALL, DOCKER), "audit_write"],
  ["a process without it", status(PODMAN, ALL), null],
  ["no root", status("0000000000000000", ALL), null],
  ["a host without /proc", "", null],
])("guardCapability() of %s is %p", (_, text, name) => {
  expect(guardCapability(text)).toBe(name);
});

test("hasCapability() is about what the process has, not about what it could get", () => {
  expect(hasCapability(status("0000001000000000"))).toBe(true);
  expect(hasCapability(status("0000000000000000", ALL))).toBe(false);
  expect(hasCapability("")).toBe(false);
});
