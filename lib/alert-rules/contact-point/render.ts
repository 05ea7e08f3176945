import { prose } from "../../text/terminal/prose.ts";
import { NO_TERMINAL, type Screen } from "../../text/terminal/screen.ts";
import { changeLines } from "../render.ts";
import type { AppliedPoint } from "./apply.ts";

const SECRET = {
  written: "The secret was written.",
  equal: "The secret is the one of the webhook.",
  not_compared:
    "The platform does not show the secret, so it was not compared; after a change of WEBHOOK_SECRET add --rotate.",
} as const;

/** What was done to the contact point, for people; no secret is in it. */
export function renderPoint(
  { name, uid, result, changes, secret }: AppliedPoint,
  screen: Screen = NO_TERMINAL,
): string {
  const lines = [
    `${result.padEnd(10)} ${name} (${uid})`,
    ...changes.flatMap((change) => changeLines(change, screen)),
    SECRET[secret],
  ];
  return prose(lines, screen, { indent: "      " });
}
