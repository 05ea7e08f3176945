import { hasBit, processStatus, statusSet } from "../process-status.ts";
import { textOrEmpty } from "../text-or-empty.ts";

/** What the kernel says of this process: its status, its user namespace's maps, and whether groups can be set there. */
export type ProcessFacts = { status: string; uidMap: string; gidMap: string; setgroups: string };

/** Why a process cannot become an account, and what a person does about it. */
export type Obstacle = { why: string; way: string };

const UID_MAP = "/proc/self/uid_map";
const GID_MAP = "/proc/self/gid_map";
const SETGROUPS = "/proc/self/setgroups";

/** The capabilities with which a process changes its user and its groups, and their numbers. */
const NEEDED = [
  ["CAP_SETUID", 7],
  ["CAP_SETGID", 6],
] as const;

/**
 * What keeps this process, which is root by its number, from becoming an account; null where the kernel names nothing.
 *
 * Behaviour: a container can be started without the capabilities for it, and root of a user namespace has only the
 *            accounts that the namespace maps.
 * Source:    capabilities(7), user_namespaces(7); numbers of linux/capability.h.
 */
export function obstacleTo(
  { name, uid, gid }: { name: string; uid: number; gid: number },
  facts: ProcessFacts = readFacts(),
): Obstacle | null {
  const effective = statusSet(facts.status, "CapEff");
  const missing = NEEDED.filter(([, number]) => !hasBit(effective, number)).map(([name]) => name);
  if (facts.status !== "" && missing.length > 0) return withoutPrivilege(name, missing);
  const [hasUser, hasGroup] = [isMapped(facts.uidMap, uid), isMapped(facts.gidMap, gid)];
  const unmapped = [hasUser ? [] : `user ${uid}`, hasGroup ? [] : `group ${gid}`].flat();
  if (unmapped.length > 0)
    return inNamespace(`it has no ${unmapped.join(" and no ")}`, name, hasUser ? GID_MAP : UID_MAP);
  return facts.setgroups.trim() === "deny" ? inNamespace("it lets nobody set groups", name, SETGROUPS) : null;
}

function withoutPrivilege(name: string, missing: readonly string[]): Obstacle {
  const names = missing.join(" and ");
  return {
    why: `this process is root by its number alone, without ${names} (CapEff in /proc/self/status), as in a container that drops privileges`,
    way: `Start the command as ${name} there (--user ${name} of docker run or exec), or give the container ${names.replaceAll("CAP_", "")} (--cap-add)`,
  };
}

function inNamespace(why: string, name: string, file: string): Obstacle {
  return {
    why: `this process is root of a user namespace only, as in a container without root, and ${why} (${file})`,
    way: `Start the command outside, or as ${name} in a namespace that maps that account and its groups (/etc/subuid, /etc/subgid)`,
  };
}

/** Whether a map of a user namespace has this number; one that cannot be read says nothing. */
function isMapped(map: string, number: number): boolean {
  const lines = map.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const ranges = lines.filter((line) => line.length === 3);
  return (
    ranges.length === 0 ||
    ranges.some(([first = 0, , count = 0]) => number >= first && number < first + count)
  );
}

function readFacts(): ProcessFacts {
  return {
    status: processStatus(),
    uidMap: textOrEmpty(UID_MAP),
    gidMap: textOrEmpty(GID_MAP),
    setgroups: textOrEmpty(SETGROUPS),
  };
}
