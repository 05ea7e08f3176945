/** More TCP sockets than this are too many, unless the command line says otherwise. */
export const SOCKET_THRESHOLD = 10_000;
