/** The environment that the webhook's unit gives the service by itself, for tests that start it as systemd does. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const unit = join(dirname(fileURLToPath(import.meta.url)), "../../systemd/opsctl-webhook.service");

/** The variables of the unit's `Environment=` lines. */
export function unitEnvironment(): Record<string, string> {
  const words = [...readFileSync(unit, "utf8").matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) =>
    line!.split(" "),
  );
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}
