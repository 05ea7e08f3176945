import { existsSync } from "node:fs";
import type { DebianTool } from "./debian-tool.ts";

const packageName = "iproute2";

/** The programs of iproute2: `ss` lists sockets, `ip` sets networks up. */
export const IPROUTE2: readonly DebianTool[] = [
  { program: "ss", packageName },
  { program: "ip", packageName, versionWord: "-V" },
];

/** Added to the name of a test that needs `ss` where cron and systemd look for programs, when it is not there. */
export const WITHOUT_SS = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].some((place) =>
  existsSync(`${place}/ss`),
)
  ? ""
  : ", NOT TRIED with ss, which is not installed here";
