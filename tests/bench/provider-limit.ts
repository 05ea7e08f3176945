/** How much of a provider's published rate a run uses, and whether it ever asks for more. */

import { startEmailProvider } from "../standins/email-provider.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { startScript } from "./child.ts";
import type { Figure } from "./figure.ts";
import { manyOwners } from "./many-owners.ts";
import { type RunChanges, weeklyRun } from "./weekly-run.ts";

const PER_SECOND = 5;
const OWNERS = 100;

const PACED_OWNERS = 500;
const MESSAGES_PER_MINUTE = 20;
/** A run whose e-mails wait for the messages would take 25 minutes: its rate shows sooner. */
const PACED_LIMIT_MS = 20_000;

/** The rate from the first to the last accepted e-mail, and the refusals for rate. */
export async function rateFigures(server: PostgresServer): Promise<Figure[]> {
  const peers = await startScript("fast-peers.ts", ["5"]);
  const email = await startEmailProvider({
    apiKey: "bench-email",
    latencyMs: 5,
    rate: { count: PER_SECOND, seconds: 1 },
  });
  const data = await manyOwners(server, OWNERS);
  try {
    await weeklyRun(data, peers.answer, 8, { emailUrl: email.url });
    const times = email.accepted.map(({ at }) => at.getTime());
    const perSecond = (times.length - 1) / ((Math.max(...times) - Math.min(...times)) / 1000);
    return [
      {
        measure: "e-mails under a published limit",
        value: `${perSecond.toFixed(2)}/s`,
        baseline: `${PER_SECOND}/s`,
        ratio: perSecond / PER_SECOND,
        goal: { atLeast: 0.95 },
      },
      {
        measure: "  refusals for rate (429)",
        value: `${email.refusedForRate}`,
        ratio: email.refusedForRate,
        goal: { atMost: 0 },
      },
    ];
  } finally {
    await Promise.all([peers.stop(), email.stop()]);
    await data.db.drop();
  }
}

/** E-mails a second while WhatsApp is paced, against those of a run without a pace. */
export async function pacedFigures(server: PostgresServer): Promise<Figure> {
  const alone = await emailsPerSecond(server, {});
  const paced = await emailsPerSecond(server, {
    messagesPerMinute: MESSAGES_PER_MINUTE,
    stop: AbortSignal.timeout(PACED_LIMIT_MS),
  });
  return {
    measure: `e-mails while WhatsApp is paced at ${MESSAGES_PER_MINUTE} a minute, ${PACED_OWNERS} owners, against no pace`,
    value: `${paced.toFixed(1)}/s`,
    baseline: `${alone.toFixed(1)}/s`,
    ratio: paced / alone,
    goal: { atLeast: 0.9 },
  };
}

async function emailsPerSecond(server: PostgresServer, changes: RunChanges): Promise<number> {
  const peers = await startScript("fast-peers.ts", ["5"]);
  const email = await startEmailProvider({ apiKey: "bench-email", latencyMs: 5 });
  const data = await manyOwners(server, PACED_OWNERS);
  try {
    await weeklyRun(data, peers.answer, 8, { emailUrl: email.url, ...changes });
    const times = email.accepted.map(({ at }) => at.getTime());
    return (times.length - 1) / ((Math.max(...times) - Math.min(...times)) / 1000);
  } finally {
    await Promise.all([peers.stop(), email.stop()]);
    await data.db.drop();
  }
}
