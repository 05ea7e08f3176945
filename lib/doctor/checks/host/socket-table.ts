import { countSockets } from "../../../host/count-sockets.ts";
import type { Check } from "../../context/check.ts";
import { type CommandName, command, fail, pass } from "../../finding.ts";

/** Whether the host's sockets can be counted. */
export function socketTableCheck(of: CommandName): Check {
  return {
    command: of,
    name: "socket table",
    async run({ dependencies }, signal) {
      try {
        await countSockets({ signal, env: dependencies.env, procNet: dependencies.paths.procNet });
        return [pass("ss and the kernel's counters can be read")];
      } catch (error) {
        const reason = error instanceof Error ? error.message : "the sockets cannot be counted";
        return [fail("SOCKETS_UNREADABLE", reason, command("apt-get install iproute2"))];
      }
    },
  };
}
