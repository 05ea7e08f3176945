import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { parseAlerts } from "../../../lib/webhook/alert/parse.ts";
import { renderMessage } from "../../../lib/webhook/texts/message/message-text.ts";
import { type RunAlert, renderFiring, renderResolved } from "../../../lib/weekly/announce/render-alert.ts";
import { noEditorials, type WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { AT_ONCE } from "../../webhook/support/golden-parts.ts";
import { FINISHED_AT, failedWith, notReady, START, summaryOf, UNTIL, WEEK, weekOf } from "./support.ts";

const FACTS = { week: WEEK, host: "vps-1", startsAt: START.startedAt, at: FINISHED_AT };
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

describe("renderFiring()", () => {
  test("is taken by the webhook's own parser, with squad, severity and one fingerprint a week", () => {
    const alert = parsed(firing(BROKEN));
    expect(alert).toMatchObject({
      name: "Relatório semanal falhou",
      status: "firing",
      firing: true,
      squad: "infra",
      severity: "critical",
      fingerprint: createHash("md5").update("opsctl-weekly\n2026-11-16").digest("hex"),
      startsAt: START.startedAt,
      endsAt: null,
      labels: { week: WEEK, host: "vps-1", ruleGroup: "vps-infra" },
    });
    expect(parsed(firing(BROKEN, "warning")).severity).toBe("warning");
  });

  test("says what is open by the ledger, the code, and until when it can be repeated", () => {
    const { annotations } = firing(BROKEN);
    expect(annotations.summary).toBe(
      "Semana de 16/11 a 22/11: 2 relatórios abertos de 10; WhatsApp: 2 não enviados e 1 em dúvida; " +
        "e-mail: 1 sem registro completo (gateway_http_500). " +
        "Pode ser repetida até a meia-noite de 23/11 (São Paulo)",
    );
    expect(annotations.description).toContain("opsctl reports status --week 2026-11-16");
    expect(annotations.description).toContain(": sudo opsctl deliveries look-up --all\n");
    expect(annotations.description).toEndWith(": sudo opsctl weekly");
  });

  test.each<[string, WeeklySummary]>([
    [
      "WhatsApp: 3 não enviados e 1 em andamento; e-mail: 1 não enviado (x). Pode",
      failedWith([{ step: "whatsapp", code: "x" }], {
        week: weekOf({ whatsapp: { failed: 2, missing: 1, running: 1 }, email: { missing: 1 } }),
      }),
    ],
    [
      "22/11: 1 relatório aberto de 10 (x). Pode",
      failedWith([{ step: "report", code: "x" }], { week: weekOf({ reports: { failed: 1 } }) }),
    ],
    [
      "22/11: editoriais: WORKER_TIMEOUT. Pode",
      failedWith([], { editorials: noEditorials("failed", "WORKER_TIMEOUT") }),
    ],
    ["22/11: nenhum envio ficou aberto, mas a execução falhou. Pode", failedWith([])],
  ])("says %s", (words, summary) => {
    expect(firing(summary).annotations.summary).toContain(words);
  });

  test("keeps its commands whole in the message that people get", () => {
    const message = renderMessage(parsed(firing(BROKEN)), AT_ONCE);
    expect(message.split("\n")[0]).toContain("*Relatório semanal falhou*");
    for (const line of firing(BROKEN).annotations.description.split("\n")) expect(message).toContain(line);
  });

  test("names the failure that tells most, not one connection's", () => {
    const summary = failedWith([
      { step: "social", code: "APP_HTTP_500" },
      { step: "whatsapp", code: "recipient_phone_missing" },
      { step: "email", code: "email_not_answering" },
    ]);
    expect(firing(summary).annotations.summary).toContain("(email_not_answering)");
  });

  test("of a run that was not ready speaks of neither numbers nor a time, and sends to doctor", () => {
    const { annotations } = firing(notReady("DATABASE_UNREACHABLE"));
    expect(annotations.summary).toBe(
      "Semana de 16/11 a 22/11: nada foi enviado por esta execução (DATABASE_UNREACHABLE). " +
        "Só pode ser enviada na segunda-feira, até a meia-noite de São Paulo",
    );
    expect(annotations.description).toBe(
      "O que falta: sudo opsctl doctor weekly\nDepois de corrigir, repetir: sudo opsctl weekly",
    );
  });

  test.each<[string, Parameters<typeof weekOf>[0], string, string[]]>([
    [
      "doubt",
      { whatsapp: { sent: 9, unknown: 1 }, email: { sent: 9, partial: 1 } },
      "Repetir não resolve: o que está em dúvida nunca é reenviado sozinho",
      ["deliveries look-up --all", "deliveries repair"],
    ],
    [
      "a timeline entry",
      { email: { sent: 8, partial: 2 } },
      "Repetir não resolve: falta só o registro na linha do tempo",
      ["deliveries repair"],
    ],
    ["networks", {}, "Repetir não resolve: nenhuma execução lê estas redes de novo", []],
  ])("of a week in which only %s is open offers no repetition", (_what, open, prospect, commands) => {
    const step = open?.whatsapp === undefined ? "social" : "whatsapp";
    const week = { ...weekOf(open), social: { connected: 9, failed: 9, owners: 9 } };
    const { annotations } = firing(failedWith([{ step, code: "x" }], { week }));
    expect(annotations.summary).toEndWith(`. ${prospect}`);
    const offered = annotations.description.split("\n").slice(2);
    expect(offered.map((line) => line.split("opsctl ")[1])).toEqual(commands);
  });

  test.each<[string, WeeklySummary]>([
    ["a run broke off", failedWith([], { error: { code: "DATABASE_LOST", message: "" } })],
    ...(["scope", "editorials", "heartbeat", "readiness", "week", "run"] as const).map(
      (step): [string, WeeklySummary] => [
        `a step beside the ledger failed: ${step}`,
        failedWith([
          { step: "whatsapp", code: "x" },
          { step, code: "y" },
        ]),
      ],
    ),
    ["the drain failed", failedWith([], { editorials: noEditorials("failed", "WORKER_TIMEOUT") })],
    ["the heartbeat could not be written", failedWith([], { heartbeat: "failed" })],
    ["something was not sent", failedWith([], { week: weekOf({ email: { sent: 8, failed: 1 } }) })],
  ])("offers a repetition beside the look-up when %s", (_when, summary) => {
    const week = summary.week && {
      ...summary.week,
      whatsapp: { ...summary.week.whatsapp, unknown: 1, partial: 1 },
      email: { ...summary.week.email, unknown: 1 },
    };
    const { annotations } = firing({ ...summary, week });
    expect(annotations.summary).toContain("Pode ser repetida até");
    const offered = annotations.description.split("\n").slice(2);
    expect(offered.map((line) => line.split("opsctl ")[1])).toEqual([
      ...["deliveries look-up --all", "deliveries repair", "weekly"],
    ]);
  });

  test("offers a repetition when nothing is open and nothing says why it failed", () => {
    const { annotations } = firing(failedWith([{ step: "whatsapp", code: "x" }]));
    expect(annotations.summary).toContain("Pode ser repetida até");
    expect(annotations.description).toEndWith("Repetir: sudo opsctl weekly");
  });

  test("of a run that reached midnight says that it is over", () => {
    const error = { code: "MONDAY_ENDED", message: "" };
    const { annotations } = firing(failedWith([], { error, finishedAt: UNTIL }));
    expect(annotations.summary).toContain("(MONDAY_ENDED). A segunda-feira acabou");
  });

  test("of a run that broke down in the middle claims nothing", () => {
    const error = { code: "INTERNAL_ERROR", message: "" };
    const summary = { ...notReady("INTERNAL_ERROR"), ...START, status: "failed" as const, error };
    expect(firing(summary).annotations.summary).toContain("não se sabe o que ficou aberto (INTERNAL_ERROR)");
  });

  test("counts by itself where the ledger could not be read", () => {
    const { whatsapp, email, reports } = summaryOf();
    const summary = failedWith([], {
      week: null,
      error: { code: "DATABASE_LOST", message: "" },
      reports: { ...reports, scopes: 10, completed: 4, reused: 2, ineligible: 1, failed: 1 },
      whatsapp: { ...whatsapp, sent: 3, failed: 1, unknown: 1 },
      email: { ...email, sent: 2, failed: 1, skipped: 2, unknown: 1 },
    });
    const { annotations } = firing(summary);
    expect(annotations.summary).toContain(
      "22/11: 3 relatórios abertos de 10; " +
        "WhatsApp: 1 não enviado e 1 em dúvida; e-mail: 3 não enviados e 1 em dúvida (",
    );
    expect(annotations.description).toContain("deliveries look-up --all\n");
  });

  test("holds nothing that a person or a peer worded", () => {
    const error = { code: "APP_HTTP_401", message: "secret-message", hint: "secret-hint" };
    const summary = failedWith([{ step: "email", code: "x", providerMessageId: "secret-id" }], { error });
    expect(JSON.stringify(firing(summary))).not.toContain("secret");
  });
});

describe("renderResolved()", () => {
  test("ends the alert of the same fingerprint and start", () => {
    const alert = parsed(renderResolved({ ...FACTS, summary: summaryOf(), severity: "critical" }));
    const first = parsed(firing(BROKEN));
    expect(alert).toMatchObject({ status: "resolved", firing: false, endsAt: FINISHED_AT });
    expect([alert.fingerprint, alert.startsAt, alert.name]).toEqual([
      first.fingerprint,
      first.startsAt,
      first.name,
    ]);
  });
});
