import type { DebianTool } from "./debian-tool.ts";

const packageName = "iproute2";

/** The programs of iproute2: `ss` lists sockets, `ip` sets networks up. */
export const IPROUTE2: readonly DebianTool[] = [
  { program: "ss", packageName },
  { program: "ip", packageName, versionWord: "-V" },
];
