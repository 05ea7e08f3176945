import { until } from "../../support/until.ts";
import { claim } from "../checks.ts";
import { writeHtml } from "../emails.ts";
import { type AlertFacts, alertOf, type Host, waitIsOver } from "../host.ts";
import { blank, quote, say, step } from "../screen.ts";

const MINUTE_MS = 60_000;

const LOAD: AlertFacts = {
  name: "VPS Load Average Alto",
  instance: "db-02",
  severity: "warning",
  summary: "Carga acima do limite",
};

const DISK: AlertFacts = {
  name: "Disco Raiz Baixo",
  instance: "db-02",
  severity: "critical",
  summary: "Menos de 15% livres no disco raiz",
};

const DETOUR = "Enquanto o WhatsApp não recebia: 1 alerta avisado por e-mail";

/** WhatsApp loses its phone: the e-mail takes over, and WhatsApp says so once it is back. */
export async function gatewayAway(host: Host): Promise<void> {
  const before = host.alarm.gateway.accepted.length;
  await away(host);
  showEmail(host);
  await backAgain(host, before);
}

async function away(host: Host): Promise<void> {
  const { alarm, email } = host;
  step("The gateway loses its phone, and another disk runs full");
  const before = alarm.gateway.accepted.length;
  alarm.gateway.instances.set("ops", "close");
  const posted = await alarm.post([alertOf(LOAD)]);
  await until("the service to know", async () => (await alarm.metric("gateway_open")) === 0);
  const critical = await alarm.post([alertOf(DISK)]);
  claim("alerts are accepted all the same", posted.status === 200 && critical.status === 200);
  claim("WhatsApp takes nothing", alarm.gateway.accepted.length === before);
  claim("there is no e-mail before its time", email.accepted.length === 0);
  say(
    "The first alert finds out: the gateway itself says that it is not connected, and all messages are held. A critical alert that WhatsApp has not taken for three minutes goes out by e-mail as well. The demo does not wait that long: it sets back by three minutes, in the service's file, when the alerts were accepted.",
  );
  waitIsOver(host, 3 * MINUTE_MS);
  await until("the e-mail", () => email.accepted.length > 0);
}

function showEmail({ email }: Host): void {
  const { subject, text, html, to } = email.accepted[0]!;
  claim("it goes to the operator's address", String(to) === "plantao@exemplo.example");
  claim(
    "it tells the critical alert",
    [subject, text, html].every((part) => part?.includes(DISK.name)),
  );
  claim("it tells no other", !text!.includes(LOAD.name));
  blank();
  say(`The e-mail: ${subject}`);
  quote(text!);
  blank();
  say(`As a file to open in a browser: ${writeHtml("alarm-email", html!)}`);
}

async function backAgain({ alarm, email }: Host, before: number): Promise<void> {
  const { gateway, message } = alarm;
  step("The phone is connected again");
  gateway.instances.set("ops", "open");
  await message(before + 2);
  const back = gateway.accepted.slice(before).map(({ text }) => text);
  const [told, other] = [DISK, LOAD].map(({ name }) => back.find((text) => text.includes(name)));
  claim("both alerts that were held are on the phone", told !== undefined && other !== undefined);
  claim("the first text that is made says what went the other way", told!.includes(DETOUR));
  say(
    "WhatsApp tells what was held, too: an e-mail may lie unread. The first message that is written now says how many alerts went the other way.",
  );
  blank();
  quote(told!);
  await until("both to be settled", async () => (await alarm.metric('queued{kind="whatsapp"}')) === 0);
  await alarm.post([LOAD, DISK].map((facts) => alertOf(facts, { isOver: true, minutes: 10 })));
  await message(before + 4);
  const ends = gateway.accepted.slice(before + 2).map(({ text }) => text);
  claim(
    "both ends are told, and nothing is said twice",
    ends.every((text) => text.startsWith("✅")),
  );
  claim(
    "what went the other way is said once",
    [other!, ...ends].every((text) => !text.includes(DETOUR)),
  );
  claim("there was one e-mail", email.accepted.length === 1);
  claim("no message was sent twice", gateway.accepted.length === before + 4);
}
