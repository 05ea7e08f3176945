import { until } from "../../support/until.ts";
import { claim } from "../checks.ts";
import { writeHtml } from "../emails.ts";
import type { Host } from "../host.ts";
import { say, step } from "../screen.ts";

/** Of the full disk, of the storm, of the other host. */
const MESSAGES = 2 + 10 + 4;
const ISSUES = 1 + 361 + 2;

/** Nothing is left, and the page shows what became of everything. */
export async function showPage({ alarm, email }: Host): Promise<void> {
  step("The page about it all");
  for (const kind of ["whatsapp", "issue"])
    await until(`no ${kind} waits`, async () => (await alarm.metric(`queued{kind="${kind}"}`)) === 0);
  claim("sixteen messages told all of it", alarm.gateway.accepted.length === MESSAGES);
  claim("an issue for each alert that fired", alarm.tracker.issues.length === ISSUES);
  const titles = alarm.tracker.issues.map(({ title }) => title);
  claim("the peers were called on their documented routes only", unexpected({ alarm, email }) === 0);
  claim(
    "every issue is one of an alert",
    titles.every((title) => title.startsWith("[ALERTA][infra] ")),
  );
  const response = await fetch(`${alarm.adminUrl}/`);
  const html = await response.text();
  claim("it says that all is well", html.includes("<title>Tudo em ordem · alarme</title>"));
  claim("the page is there", response.status === 200 && /^\s*<!doctype html>/i.test(html));
  claim(
    "it shows the alerts and loads nothing",
    ["Disco Raiz Baixo", "db-02", "web-360"].every((word) => html.includes(word)) &&
      !/<script|\ssrc=|<link (?![^>]*href="data:)/i.test(html),
  );
  say(
    `opsctl webhook serve shows it on its admin port, to this host alone: its state in a word, what waits, what each peer said last, the last 200 alerts and what became of each. As a file to open in a browser: ${writeHtml("alarm-page", html)}`,
  );
}

function unexpected({ alarm, email }: Pick<Host, "alarm" | "email">): number {
  return [alarm.gateway, alarm.tracker, email].flatMap((peer) => peer.unexpected).length;
}
