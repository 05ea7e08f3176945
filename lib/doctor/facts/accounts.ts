import { accountList, groupList } from "../../platform/account/host-lists.ts";

/** An account of the host with all its groups. */
export type Account = { name: string; uid: number; gids: readonly number[] };

/**
 * The account of this name, or null.
 *
 * Behaviour: reads the texts of /etc/passwd and /etc/group, so it knows no account or group of a directory service.
 */
export function parseAccount(name: string, passwd: string, group: string): Account | null {
  const account = accountList(passwd).find((line) => line.name === name);
  if (account === undefined) return null;
  const others = groupList(group).filter(({ members }) => members.includes(name));
  const gids = [account.gid, ...others.map(({ number }) => number)];
  return { name, uid: account.number, gids: [...new Set(gids)] };
}
