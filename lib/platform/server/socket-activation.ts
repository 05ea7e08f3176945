const FIRST_DESCRIPTOR = 3;

/**
 * The listening sockets that systemd handed over to this process, the first of each name that their unit gives them; none
 * when the variables are meant for another process. They are removed from `env`, so that no child takes them for its own.
 *
 * Source: sd_listen_fds(3), read 2026-11-21.
 */
export function activatedSockets(env: Record<string, string | undefined>, pid: number): Map<string, number> {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = "" } = env;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete env[name];
  const sockets = new Map<string, number>();
  if (LISTEN_PID !== String(pid)) return sockets;
  const names = LISTEN_FDNAMES.split(":").slice(0, Number(LISTEN_FDS));
  for (const [at, name] of names.entries()) if (!sockets.has(name)) sockets.set(name, FIRST_DESCRIPTOR + at);
  return sockets;
}
