/** A socket as systemd has it for its services: datagrams at a path, or at an abstract name after `@`. */
import { dlopen, ptr } from "bun:ffi";

const { symbols: c } = dlopen("libc.so.6", {
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
  recv: { args: ["i32", "ptr", "usize", "i32"], returns: "i64" },
  close: { args: ["i32"], returns: "i32" },
});

const MSG_DONTWAIT = 0x40;

/** A listening one; `take` returns what has come since the last call, each datagram by itself. */
export type NotifyListener = { take(): string[]; close(): void };

/** Listens at `name`. */
export function listenForNotifications(name: string): NotifyListener {
  const path = Buffer.from(`${name}\0`);
  if (name.startsWith("@")) path[0] = 0;
  const length = name.startsWith("@") ? path.length - 1 : path.length;
  const address = Buffer.concat([Buffer.from([1, 0]), path]);
  const fd = c.socket(1, 2, 0);
  if (c.bind(fd, ptr(address), 2 + length) !== 0) throw new Error(`cannot listen at ${name}`);
  const buffer = Buffer.alloc(4_096);
  return {
    take() {
      const words: string[] = [];
      for (;;) {
        const bytes = Number(c.recv(fd, ptr(buffer), buffer.length, MSG_DONTWAIT));
        if (bytes < 0) return words;
        words.push(buffer.toString("utf8", 0, bytes));
      }
    },
    close: () => void c.close(fd),
  };
}
