import { dlopen, FFIType } from "bun:ffi";
import { connect, type Socket } from "node:net";

const AF_INET = 2;
const SOCK_STREAM = 1;
const IPPROTO_TCP = 6;
const TCP_DEFER_ACCEPT = 9;

/**
 * Holds half-open connections: a listener that waits for data leaves them in SYN-RECV, since no data is sent.
 */
export async function holdHalfOpen(count: number): Promise<{ [Symbol.asyncDispose](): Promise<void> }> {
  const { i32, ptr, u32 } = FFIType;
  const libc = dlopen("libc.so.6", {
    socket: { args: [i32, i32, i32], returns: i32 },
    setsockopt: { args: [i32, i32, i32, ptr, u32], returns: i32 },
    bind: { args: [i32, ptr, u32], returns: i32 },
    listen: { args: [i32, i32], returns: i32 },
    getsockname: { args: [i32, ptr, ptr], returns: i32 },
    close: { args: [i32], returns: i32 },
  });
  const { socket, setsockopt, bind, listen, getsockname, close } = libc.symbols;
  const fd = socket(AF_INET, SOCK_STREAM, 0);
  const seconds = new Int32Array([60]);
  const address = new Uint8Array([AF_INET, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  const done = [
    setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, seconds, 4),
    bind(fd, address, address.length),
    listen(fd, 1_024),
    getsockname(fd, address, new Uint32Array([address.length])),
  ];
  if (done.some((status) => status !== 0)) throw new Error("Cannot listen with TCP_DEFER_ACCEPT");
  const port = address[2]! * 256 + address[3]!;
  const clients = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const client = connect({ host: "127.0.0.1", port }, () => resolve(client));
          client.on("error", reject);
        }),
    ),
  );
  return {
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.resetAndDestroy();
      close(fd);
    },
  };
}
