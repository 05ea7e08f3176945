/** The demo, scene by scene. */
import { claimsHeld } from "./checks.ts";
import { startHost } from "./host.ts";
import { awayForAWhile } from "./scenes/away-for-a-while.ts";
import { awayForLong } from "./scenes/away-for-long.ts";
import { fullDisk } from "./scenes/full-disk.ts";
import { gatewayAway } from "./scenes/gateway-away.ts";
import { showMessages } from "./scenes/messages.ts";
import { onceMore } from "./scenes/once-more.ts";
import { showPage } from "./scenes/page.ts";
import { storm } from "./scenes/storm.ts";
import { tuesday } from "./scenes/tuesday.ts";
import { whatIsLeft } from "./scenes/what-is-left.ts";
import { act, blank, say } from "./screen.ts";
import { setUp } from "./set-up.ts";
import type { Stage } from "./stage.ts";

/** Tells the whole story. */
export async function tell(stage: Stage): Promise<void> {
  act("First act: a Monday");
  await monday(stage);
  act("Second act: the host's alarm");
  await alarm(stage);
  blank();
  say(
    `Every claim above was checked against the database and the stand-ins' own ledgers: ${claimsHeld()} checks held.`,
  );
}

async function monday(stage: Stage): Promise<void> {
  const scene = await setUp(stage);
  await awayForLong(scene);
  await awayForAWhile(scene);
  showMessages(scene);
  await whatIsLeft(scene);
  await onceMore(scene);
  await tuesday(scene);
}

async function alarm(stage: Stage): Promise<void> {
  const host = await startHost(stage);
  await fullDisk(host);
  await storm(host);
  await gatewayAway(host);
  await showPage(host);
}
