import { expect, test } from "bun:test";
import { obstacleTo } from "../../../lib/platform/account/obstacle.ts";

const ACCOUNT = { name: "opsctl", uid: 998, gid: 997 };
const WHOLE = "         0          0 4294967295\n";
/** Root on a host. */
const HOST = {
  status: "Name:\tbun\nCapEff:\t000001ffffffffff\n",
  uidMap: WHOLE,
  gidMap: WHOLE,
  setgroups: "allow\n",
};
const withCapabilities = (set: string) => ({ ...HOST, status: `CapEff:\t${set}\nCapBnd:\t${set}\n` });

test.each([
  ["root on a host", HOST],
  ["root of a container of Docker", withCapabilities("00000000a80425fb")],
  ["a host without /proc", { status: "", uidMap: "", gidMap: "", setgroups: "" }],
  ["a namespace with the account", { ...HOST, uidMap: "0 100000 998\n998 1998 1\n", gidMap: "0 1 65536\n" }],
])("obstacleTo() is null for %s", (_what, facts) => expect(obstacleTo(ACCOUNT, facts)).toBeNull());

test.each([
  ["0000000000000000", "CAP_SETUID and CAP_SETGID", "SETUID and SETGID"],
  ["000001ffffffff7f", "CAP_SETUID", "SETUID"],
  ["000001ffffffffbf", "CAP_SETGID", "SETGID"],
])("obstacleTo() names the capabilities that %s lacks", (set, names, given) => {
  const { why, way } = obstacleTo(ACCOUNT, withCapabilities(set))!;
  expect(why).toStartWith(`this process is root by its number alone, without ${names} (CapEff`);
  expect(way).toContain("--user opsctl");
  expect(way).toContain(`give the container ${given} (--cap-add)`);
});

test.each([
  [{ uidMap: "0 0 1\n", gidMap: "0 0 1\n" }, "it has no user 998 and no group 997", "uid_map"],
  [{ uidMap: "0 100000 998\n" }, "it has no user 998", "uid_map"],
  [{ gidMap: "0 100000 997\n998 5 1\n" }, "it has no group 997", "gid_map"],
  [{ setgroups: "deny\n" }, "it lets nobody set groups", "setgroups"],
])("obstacleTo() names what a user namespace lacks: %j", (facts, reason, file) => {
  const { why, way } = obstacleTo(ACCOUNT, { ...HOST, ...facts })!;
  expect(why).toStartWith("this process is root of a user namespace only");
  expect(why).toEndWith(`and ${reason} (/proc/self/${file})`);
  expect(way).toContain("/etc/subuid");
});
