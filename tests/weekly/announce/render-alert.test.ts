import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { parseAlerts } from "../../../lib/webhook/alert/parse.ts";
import { renderMessage } from "../../../lib/webhook/texts/message/message-text.ts";
import { type RunAlert, renderFiring, renderResolved } from "../../../lib/weekly/announce/render-alert.ts";
import { noEditorials, type WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { WEEK } from "../../support/seed.ts";
import { AT_ONCE } from "../../webhook/support/golden-parts.ts";
import { FINISHED_AT, failedWith, notReady, START, summaryOf, UNTIL, weekOf } from "./support.ts";

const FACTS = { week: WEEK.week, host: "vps-1", startsAt: START.startedAt, at: FINISHED_AT };
const firing = (summary: WeeklySummary, severity: "critical" | "warning" = "critical") =>
  renderFiring({ ...FACTS, summary, severity });

/** The alert as the webhook reads it off the wire. */
function parsed(alert: RunAlert) {
  const result = parseAlerts(JSON.parse(JSON.stringify(alert)));
  if ("invalid" in result) throw new Error(JSON.stringify(result.invalid));
  return result.alerts[0]!;
}

const BROKEN = failedWith([{ step: "whatsapp", code: "gateway_http_500" }], {
  week: weekOf({
    reports: { completed: 8, failed: 1, missing: 1 },
    whatsapp: { sent: 5, failed: 2, unknown: 1 },
    email: { sent: 7, partial: 1 },
  }),
});

/** A run whose week has this open, one failure, and what else is given. */
const openWeek = (open: Parameters<typeof weekOf>[0], changes: Partial<WeeklySummary> = {}) =>
  failedWith([{ step: "whatsapp", code: "x" }], { week: weekOf(open), ...changes });
const drained = { editorials: noEditorials("failed", "WORKER_TIMEOUT") };
const brokeOff = (code: string) => ({ error: { code, message: "" } });
const unknownSends = { whatsapp: { sent: 8, unknown: 1, partial: 1 }, email: { sent: 9, unknown: 1 } };
const counted = summaryOf();

const REPEAT = "Pode ser repetida até a meia-noite de 23/11 (São Paulo)";
const NO_REPEAT = "Repetir não resolve: ";
const [LOOK_UP, REPAIR, RUN] = ["deliveries look-up --all", "deliveries repair", "weekly"];

/** What is said of a run that ended so, part by part, and the commands offered beside the two that list. */
const TEXTS: [name: string, summary: WeeklySummary, says: string[], offered: string[]][] = [
  [
    "everything at once",
    BROKEN,
    [
      "Semana de 16/11 a 22/11: 2 relatórios abertos de 10; WhatsApp: 2 não enviados e 1 em dúvida; " +
        `e-mail: 1 sem registro completo (gateway_http_500). ${REPEAT}`,
    ],
    [LOOK_UP!, REPAIR!, RUN!],
  ],
  [
    "deliveries that are missing or in work",
    openWeek({ whatsapp: { failed: 2, missing: 1, running: 1 }, email: { missing: 1 } }),
    ["22/11: WhatsApp: 3 não enviados e 1 em andamento; e-mail: 1 não enviado (x). Pode"],
    [RUN!],
  ],
  ["one report", openWeek({ reports: { failed: 1 } }), ["22/11: 1 relatório aberto de 10 (x). Pode"], [RUN!]],
  ["editorials", failedWith([], drained), ["22/11: editoriais: WORKER_TIMEOUT. Pode"], [RUN!]],
  ["nothing", failedWith([]), ["nenhum envio ficou aberto, mas a execução falhou. Pode"], [RUN!]],
  [
    "unknown results",
    openWeek({ whatsapp: { sent: 9, unknown: 1 }, email: { sent: 9, partial: 1 } }),
    [`. ${NO_REPEAT}o que está em dúvida nunca é reenviado sozinho`],
    [LOOK_UP!, REPAIR!],
  ],
  [
    "timeline entries",
    failedWith([{ step: "social", code: "x" }], { week: weekOf({ email: { sent: 8, partial: 2 } }) }),
    [`. ${NO_REPEAT}falta só o registro na linha do tempo`],
    [REPAIR!],
  ],
  [
    "networks",
    failedWith([{ step: "social", code: "x" }], {
      week: { ...weekOf(), social: { connected: 9, failed: 9, owners: 9 } },
    }),
    [`. ${NO_REPEAT}nenhuma execução lê estas redes de novo`],
    [],
  ],
  ...([drained, { heartbeat: "failed" as const }, brokeOff("DATABASE_LOST")] as const).map(
    (changes): (typeof TEXTS)[number] => [
      `unknown results, and ${Object.keys(changes)[0]}`,
      openWeek(unknownSends, changes),
      [REPEAT],
      [LOOK_UP!, REPAIR!, RUN!],
    ],
  ),
  ...(["scope", "editorials", "heartbeat", "readiness", "week", "run"] as const).map(
    (step): (typeof TEXTS)[number] => [
      `unknown results, and a failure beside the ledger: ${step}`,
      { ...openWeek(unknownSends), failures: [{ step, code: "y" }] },
      [REPEAT],
      [LOOK_UP!, REPAIR!, RUN!],
    ],
  ),
  [
    "midnight",
    failedWith([], { ...brokeOff("MONDAY_ENDED"), finishedAt: UNTIL }),
    ["(MONDAY_ENDED). A segunda-feira acabou"],
    [RUN!],
  ],
  [
    "a run that broke down in the middle",
    { ...notReady("INTERNAL_ERROR"), ...START, status: "failed", ...brokeOff("INTERNAL_ERROR") },
    ["não se sabe o que ficou aberto (INTERNAL_ERROR)"],
    [RUN!],
  ],
  [
    "a ledger that could not be read",
    failedWith([], {
      ...brokeOff("DATABASE_LOST"),
      week: null,
      reports: { ...counted.reports, scopes: 10, completed: 4, reused: 2, ineligible: 1, failed: 1 },
      whatsapp: { ...counted.whatsapp, sent: 3, failed: 1, unknown: 1 },
      email: { ...counted.email, sent: 2, failed: 1, skipped: 2, unknown: 1 },
    }),
    [
      "22/11: 3 relatórios abertos de 10; WhatsApp: 1 não enviado e 1 em dúvida; e-mail: 3 não enviados",
      "e 1 em dúvida (",
    ],
    [LOOK_UP!, RUN!],
  ],
  [
    "the failure of the highest rank",
    failedWith([
      { step: "social", code: "APP_HTTP_500" },
      { step: "whatsapp", code: "recipient_phone_missing" },
      { step: "email", code: "email_not_answering" },
    ]),
    ["(email_not_answering)"],
    [RUN!],
  ],
];

describe("renderFiring()", () => {
  test.each(TEXTS)("says what is open and what helps: %s", (_name, summary, says, offered) => {
    const { annotations } = firing(summary);
    for (const part of says) expect(annotations.summary).toContain(part);
    const commands = annotations.description.split("\n").map((line) => line.split("opsctl ")[1]!);
    expect(commands[0]).toBe("reports status --week 2026-11-16");
    expect(commands.slice(2)).toEqual(offered);
  });

  test("an alert of a run that was not ready speaks of neither numbers nor a time, and sends to doctor", () => {
    expect(firing(notReady("DATABASE_UNREACHABLE")).annotations).toEqual({
      summary:
        "Semana de 16/11 a 22/11: nada foi enviado por esta execução (DATABASE_UNREACHABLE). " +
        "Só pode ser enviada na segunda-feira, até a meia-noite de São Paulo",
      description: "O que falta: sudo opsctl doctor weekly\nDepois de corrigir, repetir: sudo opsctl weekly",
    });
  });

  test("is taken by the webhook's own parser, with squad, severity and one fingerprint a week", () => {
    expect(parsed(firing(BROKEN))).toMatchObject({
      name: "Relatório semanal falhou",
      status: "firing",
      firing: true,
      squad: "infra",
      severity: "critical",
      fingerprint: createHash("md5").update("opsctl-weekly\n2026-11-16").digest("hex"),
      startsAt: START.startedAt,
      endsAt: null,
      labels: { week: WEEK.week, host: "vps-1", ruleGroup: "vps-infra" },
    });
    expect(parsed(firing(BROKEN, "warning")).severity).toBe("warning");
  });

  test("keeps its commands whole in the message that people get", () => {
    const message = renderMessage(parsed(firing(BROKEN)), AT_ONCE);
    expect(message.split("\n")[0]).toContain("*Relatório semanal falhou*");
    for (const line of firing(BROKEN).annotations.description.split("\n")) expect(message).toContain(line);
  });

  test("contains nothing that a person or a service worded", () => {
    const error = { code: "APP_HTTP_401", message: "secret-message", hint: "secret-hint" };
    const summary = failedWith([{ step: "email", code: "x", providerMessageId: "secret-id" }], { error });
    expect(JSON.stringify(firing(summary))).not.toContain("secret");
  });
});

test("renderResolved() ends the alert of the same fingerprint and start", () => {
  const { fingerprint, startsAt, name } = parsed(firing(BROKEN));
  const alert = parsed(renderResolved({ ...FACTS, summary: summaryOf(), severity: "critical" }));
  expect(alert).toMatchObject({
    status: "resolved",
    firing: false,
    endsAt: FINISHED_AT,
    fingerprint,
    startsAt,
    name,
  });
});
