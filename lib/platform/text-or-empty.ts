import { readFileSync } from "node:fs";

/** The text of a file of this host; empty where it cannot be read. */
export function textOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
