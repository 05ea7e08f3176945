/** Starts `restart-probe.ts`, a server at a listening socket that is handed over. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Resolves when it listens at `fd`. */
export async function startProbe(fd: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["run", join(import.meta.dir, "restart-probe.ts")], {
    cwd: join(import.meta.dir, "../../.."),
    stdio: ["ignore", "pipe", "inherit", fd],
  });
  await once(child.stdout!, "data");
  return child;
}
