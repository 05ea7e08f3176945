import { existsSync } from "node:fs";
import { join } from "node:path";
import { debianPackages } from "../support/debian-packages.ts";

/** The path of Debian's static busybox, which has a ping; null where it cannot be had. */
export function findBusybox(): string | null {
  const folder = debianPackages("debian/busybox-static", () => ["busybox-static"]);
  const places = ["bin", "usr/bin"].map((name) => join(folder ?? "", name, "busybox"));
  return (folder && places.find(existsSync)) ?? null;
}
