/** The environment that cron and systemd give opsctl by themselves, for those that start it as they do. */
import { readFileSync } from "node:fs";

const textOf = (name: string) => readFileSync(new URL(`../../systemd/${name}`, import.meta.url), "utf8");

/** The engine's settings in the cron line of `opsctl weekly`. */
export function cronEnvironment(): Record<string, string> {
  const line = /^.* \S*opsctl weekly .*$/m.exec(textOf("opsctl.cron"))?.[0] ?? "";
  return variablesIn(line.split(" ").filter((word) => word.startsWith("BUN_JSC_")));
}

/** The variables of the `Environment=` lines of the webhook's unit. */
export function unitEnvironment(): Record<string, string> {
  const lines = textOf("opsctl-webhook.service").matchAll(/^Environment=(.*)$/gm);
  return variablesIn([...lines].flatMap(([, line]) => line!.split(" ")));
}

function variablesIn(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => word.split(/=(.*)/s).slice(0, 2)));
}
