/** A listening socket from which no process accepts, as a service manager holds one. */
import { dlopen, FFIType, ptr } from "bun:ffi";

const { i32, ptr: pointer } = FFIType;
const { symbols: libc } = dlopen(process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, i32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  close: { args: [i32], returns: i32 },
});

const AF_INET = 2;
const SOCK_STREAM = 1;
const BACKLOG = 256;

/** Its descriptor in this process, to be handed to children, and its port on the loopback address. */
export type HeldSocket = { fd: number; port: number; close(): void };

/** Opens one at a free port. */
export function holdSocket(): HeldSocket {
  const fd = libc.socket(AF_INET, SOCK_STREAM, 0);
  const address = new Uint8Array(16);
  if (process.platform === "darwin") address.set([16, AF_INET]);
  else address[0] = AF_INET;
  address.set([127, 0, 0, 1], 4);
  const size = Uint32Array.of(address.byteLength);
  const failed =
    fd < 0 || libc.bind(fd, ptr(address), address.byteLength) < 0 || libc.listen(fd, BACKLOG) < 0;
  if (failed || libc.getsockname(fd, ptr(address), ptr(size)) < 0) throw new Error("Cannot hold a socket");
  const port = new DataView(address.buffer).getUint16(2);
  return { fd, port, close: () => void libc.close(fd) };
}
