import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real pipe; `fd` is its writing end, which blocks when the pipe is full. `read` takes its content, "" for none. */
export type UnreadPipe = { fd: number; read(): string; close(): void };

/** Makes a pipe that no process reads. */
export function unreadPipe(): UnreadPipe {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-pipe-"));
  const path = join(directory, "pipe");
  spawnSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_WRONLY);
  const piece = Buffer.alloc(2 ** 16);
  return {
    fd,
    read() {
      try {
        return piece.toString("utf8", 0, readSync(reader, piece));
      } catch {
        return "";
      }
    },
    close() {
      for (const one of [fd, reader]) closeSync(one);
      rmSync(directory, { recursive: true });
    },
  };
}
