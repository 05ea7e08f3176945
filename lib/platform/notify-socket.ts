import { type DatagramCalls, datagramCalls } from "./runtime.ts";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
/** Neither a full queue nor a manager that has gone may keep the process waiting, or end it by a signal. */
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
/** What `sun_path` holds. */
const LONGEST_PATH_BYTES = 107;

/** Tells the manager of services something; false when it could not be told now. */
export type Notify = (words: Uint8Array) => boolean;

/**
 * The socket on which systemd listens, connected and kept open.
 *
 * Behaviour: nothing is opened to tell it something, so a shortage of descriptors or memory does not keep the process
 *            from it. When the manager has made its socket anew, one is opened again.
 * Errors:    null when it cannot be reached from this runtime, or is no socket of datagrams.
 * Source:    sd_notify(3): AF_UNIX, SOCK_DGRAM, a path or, after an `@`, an abstract name.
 */
export function openNotifySocket(name: string, calls: DatagramCalls | null = datagramCalls()): Notify | null {
  const address = addressOf(name);
  if (calls === null || address === null) return null;
  let fd = open(calls, address);
  if (fd === null) return null;
  const send = (words: Uint8Array) =>
    fd !== null && calls.send(fd, words, MSG_DONTWAIT | MSG_NOSIGNAL) === words.byteLength;
  return (words) => {
    if (send(words)) return true;
    const again = open(calls, address);
    // The old one is given up only for a new one: there may be no descriptor now.
    if (again === null) return false;
    if (fd !== null) calls.close(fd);
    fd = again;
    return send(words);
  };
}

/** `sockaddr_un`: the family in the byte order of the machine, then the path with its NUL, or the abstract name. */
function addressOf(name: string): Uint8Array | null {
  const path = new TextEncoder().encode(name);
  const isAbstract = name.startsWith("@");
  if (!(isAbstract || name.startsWith("/")) || path.byteLength > LONGEST_PATH_BYTES) return null;
  if (isAbstract) path[0] = 0;
  const address = new Uint8Array(2 + path.byteLength + (isAbstract ? 0 : 1));
  new Uint16Array(address.buffer, 0, 1)[0] = AF_UNIX;
  address.set(path, 2);
  return address;
}

function open(calls: DatagramCalls, address: Uint8Array): number | null {
  const fd = calls.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return null;
  if (calls.connect(fd, address) === 0) return fd;
  calls.close(fd);
  return null;
}
