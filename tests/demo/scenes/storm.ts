import { until } from "../../support/until.ts";
import { claim } from "../checks.ts";
import { type AlertFacts, alertOf, type Host } from "../host.ts";
import { blank, quote, say, step } from "../screen.ts";

const LOAD = {
  name: "VPS Load Average Alto",
  severity: "warning",
  summary: "Carga acima do limite",
} as const;
const SOCKETS = {
  name: "TCP CLOSE_WAIT Excessivo",
  severity: "high",
  summary: "Mais de 500 conexões presas em CLOSE_WAIT",
} as const;
const MEMORY: AlertFacts = {
  name: "RAM Disponível Baixa",
  instance: "db-01",
  severity: "critical",
  summary: "Menos de 10% de RAM disponível",
};

const COUNT = 360;
const DIGESTS = COUNT / 40;
/** So many messages are on their way to the gateway at the same time. */
const AT_ONCE = 4;

/** So many lines of a digest are shown. */
const SHOWN = 9;

/** 360 alerts in one post and a critical one behind them: ten messages. */
export async function storm(host: Host): Promise<void> {
  const { gateway, tracker, post } = host.alarm;
  step("A storm: 361 alerts in one post, the critical one last");
  say(
    "At 30 messages a minute the last of them would be on the phone after twelve minutes. With --digest-after those that would wait are told together, up to 40 in a message. A critical one never is, and goes out first, with the three beside which it is sent.",
  );
  const [before, issuesBefore] = [gateway.accepted.length, tracker.issues.length];
  const hosts = Array.from({ length: COUNT }, (_, i) => `web-${String(i + 1).padStart(3, "0")}`);
  const facts = hosts.map((instance, i) => ({ ...(i < COUNT / 2 ? LOAD : SOCKETS), instance }));
  const posted = await post([...facts, MEMORY].map((one) => alertOf(one)));
  claim("the storm is accepted whole", posted.status === 200 && posted.accepted === COUNT + 1);
  const texts = () => gateway.accepted.slice(before).map(({ text }) => text);
  await until("every message of the storm", () => texts().length >= 1 + DIGESTS);
  await until("an issue for each", () => tracker.issues.length >= issuesBefore + COUNT + 1);
  const isCritical = (text: string) => text.startsWith("🔴 *RAM Disponível Baixa* · db-01");
  claim("the critical one is among the first", texts().slice(0, AT_ONCE).some(isCritical));
  claimToldOnce(texts().filter((text) => !isCritical(text)));
  show(texts().find(isCritical)!, texts().find((text) => !isCritical(text))!);
}

function claimToldOnce(digests: string[]): void {
  claim(
    "all others are digests",
    digests.every((text) => text.startsWith("📋")),
  );
  claim("360 alerts are nine messages", digests.length === DIGESTS);
  const told = digests.join("\n").match(/web-\d{3}/g) ?? [];
  claim("each alert is told once", told.length === COUNT && new Set(told).size === COUNT);
}

function show(first: string, digest: string): void {
  const lines = digest.split("\n");
  blank();
  quote(first);
  blank();
  quote(
    [
      ...lines.slice(0, SHOWN),
      `… ${lines.length - SHOWN} more lines, and ${DIGESTS - 1} more such messages`,
    ].join("\n"),
  );
}
