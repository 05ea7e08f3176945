/** An account of the host with all its groups. */
export type Account = { name: string; uid: number; gids: readonly number[] };

/**
 * The account of this name, or null.
 *
 * Behaviour: reads the texts of /etc/passwd and /etc/group, so it knows no account or group of a directory service.
 * Source:    passwd(5), group(5).
 */
export function parseAccount(name: string, passwd: string, group: string): Account | null {
  const [, , uid, gid] = fields(passwd).find(([first]) => first === name) ?? [];
  if (uid === undefined || gid === undefined || !isNumber(uid) || !isNumber(gid)) return null;
  const others = fields(group)
    .filter(([, , id, members]) => isNumber(id ?? "") && (members ?? "").split(",").includes(name))
    .map(([, , id]) => Number(id));
  return { name, uid: Number(uid), gids: [...new Set([Number(gid), ...others])] };
}

function fields(text: string): string[][] {
  return text.split("\n").map((line) => line.trim().split(":"));
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}
