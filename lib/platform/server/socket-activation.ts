type Environment = Record<string, string | undefined>;

/** The first descriptor that a service manager hands over. */
const FIRST_DESCRIPTOR = 3;
const VARIABLES = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"];

/**
 * The listening sockets that systemd handed over to this process, by the name that their unit gives them.
 *
 * Behaviour: only sockets of the given names, the first of each; none when the variables are meant for another process.
 *            The variables are removed from `env`, so that no child takes them for its own.
 * Source:    sd_listen_fds(3), read 2026-11-21.
 */
export function activatedSockets(
  env: Environment,
  pid: number,
  names: readonly string[] = ["webhook", "admin"],
): Map<string, number> {
  const { LISTEN_PID, LISTEN_FDS = "", LISTEN_FDNAMES = "" } = env;
  for (const name of VARIABLES) delete env[name];
  const sockets = new Map<string, number>();
  if (LISTEN_PID !== String(pid) || !/^[1-9]\d{0,3}$/.test(LISTEN_FDS)) return sockets;
  const given = LISTEN_FDNAMES.split(":").slice(0, Number(LISTEN_FDS));
  for (const [at, name] of given.entries())
    if (names.includes(name) && !sockets.has(name)) sockets.set(name, FIRST_DESCRIPTOR + at);
  return sockets;
}
