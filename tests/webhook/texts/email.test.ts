import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Escalation } from "../../../lib/webhook/store/reads.ts";
import { renderAlertEmail } from "../../../lib/webhook/texts/email.ts";
import { alertWith, anyAlert } from "../support/alert.ts";

const nowMs = Date.parse("2026-03-02T08:20:40Z");
const MINUTE = 60_000;
type EmailedAlert = Omit<Escalation, "row">;
const waiting = (
  parts: Parameters<typeof alertWith>[0] = {},
  more: Partial<EmailedAlert> = {},
): EmailedAlert => ({
  alert: alertWith({ severity: "critical", labels: { instance: "main" }, ...parts }),
  status: "queued",
  acceptedAtMs: nowMs - 4 * MINUTE,
  issueUrl: null,
  ...more,
});
const unknown = (parts = {}) => waiting(parts, { status: "unknown" });
const email = (alerts: EmailedAlert[], reason: string | null = null, comesLater = true) =>
  renderAlertEmail(alerts, { nowMs, reason, comesLater });

describe("renderAlertEmail()", () => {
  test("says what a message would, and why it comes by e-mail; texts are as they were sent", () => {
    const { subject, text } = email(
      [
        waiting(
          {
            value: "11.2",
            unit: "percent",
            description: "Veja `df` em db.example.com.\nE *mais*: https://wiki.example.com/a_b_",
            labels: { alertname: "Traefik RAM Alta", instance: "main", url: "https://x.example" },
          },
          { issueUrl: "https://linear.app/x/issue/OPS-1" },
        ),
      ],
      "sem_instancia_gateway",
    );
    expect(subject).toBe("🔴 Traefik RAM Alta · main");
    expect(
      text,
    ).toBe(`Por e-mail porque o WhatsApp não recebe desde 05:16 (sem_instancia_gateway). Quando ele voltar, a mensagem também chega por lá.

🔴 Traefik RAM Alta · main
Crítico · infra · desde 05:15 (há 5 min)
Recebido 05:16, espera pelo WhatsApp há 4 min.
  Proxy acima de 500 MiB
  Veja \`df\` em db.example.com.
  E *mais*: https://wiki.example.com/a_b_
  instance=main · url=https[://]x.example
Valor: 11,2 %
Painel: https://example.grafana.net/d/vps?from=1&to=2
Regra: https://example.grafana.net/alerting/grafana/vps-traefik-ram/view?orgId=1
Silenciar: https://example.grafana.net/alerting/silence/new?alertmanager=grafana&orgId=1
Issue: https://linear.app/x/issue/OPS-1
`);
    expect(email([waiting()], null, false).text).toStartWith(
      "Por e-mail porque o WhatsApp não recebe desde 05:16.\n",
    );
  });

  test("says of one with an unknown result that it may have arrived", () => {
    const alone = email([unknown()], "gateway_timeout").text;
    expect(alone).toStartWith(
      "Por e-mail porque não se sabe se o WhatsApp entregou (gateway_timeout): pode ter chegado lá também.\n",
    );
    expect(alone).toContain("\nRecebido 05:16. Pode ter chegado pelo WhatsApp.\n");
    const queued = [3, 2].map((minutes) => waiting({}, { acceptedAtMs: nowMs - minutes * MINUTE }));
    const both = email([unknown(), ...queued]).text;
    expect(both).toStartWith("Por e-mail porque o WhatsApp não recebe desde 05:17.");
  });

  test("has all of several: ten in full, the others in a line, the first in the subject", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => (at === 11 ? unknown : waiting)({ name: `Regra ${at}` }));
    expect(email(many(2)).subject).toBe("🔴 Regra 0 · main e mais 1 alerta");
    const { subject, text } = email(many(100));
    expect(subject).toBe("🔴 Regra 0 · main e mais 99 alertas");
    expect(text.split("Proxy acima")).toHaveLength(1 + 10);
    expect(text).toContain(
      "\n\n🔴 Regra 10 · main · Crítico · infra · desde 05:15 (há 5 min)\n" +
        "🔴 Regra 11 · main · Crítico · infra · desde 05:15 (há 5 min) · pode ter chegado\n",
    );
    expect(text).toContain("Regra 99 · main");
  });

  test.each([
    {
      what: "the platform's error of a rule that could not be evaluated",
      parts: {
        labels: { alertname: "DatasourceError", instance: "main" },
        summary: null,
        description: "deadline",
      },
      subject: "⚠️ Traefik RAM Alta não pôde ser avaliado · main",
      lines: "  A avaliação da regra falhou (DatasourceError)\n  deadline\n",
    },
    {
      what: "what has ended without a measurement",
      parts: { status: "resolved", firing: false, reason: "MissingSeries" as const },
      subject: "⚠️ Traefik RAM Alta encerrado sem medição · main",
      lines: "  A série da regra sumiu: o problema pode continuar (MissingSeries)\n",
    },
    {
      what: "how many alerts the platform left out",
      parts: { truncatedAlerts: 15 },
      subject: "🔴 Traefik RAM Alta · main",
      lines: "  +15 alertas não mostrados\n",
    },
    {
      what: "a description that repeats the summary once",
      parts: { description: "Proxy acima de\n500 MiB" },
      subject: "🔴 Traefik RAM Alta · main",
      lines: "há 4 min.\n  Proxy acima de 500 MiB\n  instance=main\n",
    },
  ])("shows $what", ({ parts, subject, lines }) => {
    const mail = email([waiting(parts)]);
    expect(mail.subject).toBe(subject);
    expect(mail.text).toContain(lines);
  });

  test("keeps a subject short, on one line, with its count", () => {
    const long = waiting({ name: `a\r\nBcc: x@evil.example ${"n".repeat(500)}` });
    const { subject } = email([long, long]);
    expect(subject.length).toBeLessThanOrEqual(150);
    expect(subject).toMatch(/^🔴 a Bcc: x\S+ nnn/u);
    expect(subject).toEndWith("n… · main e mais 1 alerta");
    const longest = waiting({ name: "😀".repeat(99), labels: { a: "b".repeat(99) } });
    expect(email([longest]).subject).toHaveLength(150);
  });

  test("has no line of a sender that could be ours, whatever the alerts say", () => {
    const ours =
      /^(?:Por e-mail porque |[\u26AA\u26A0\u2705\u{1F534}\u{1F535}\u{1F7E0}\u{1F7E1}]|Recebido |Valor: )/u;
    const alerts = fc.array(anyAlert, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(alerts, fc.boolean(), (some, isKnown) => {
        const { subject, text } = email(
          some.map((alert) => ({ ...(isKnown ? waiting() : unknown()), alert })),
        );
        for (const part of [subject, text]) expect(part.isWellFormed()).toBe(true);
        expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        const [first = [], ...rest] = text.split("\n\n").map((block) => block.split("\n"));
        expect(first).toHaveLength(1);
        for (const block of rest.slice(0, Math.min(10, some.length)))
          for (const [at, line] of block.entries())
            if (at !== 1 && line !== "" && !line.startsWith("  "))
              expect(ours.test(line) || /^(?:Painel|Regra|Silenciar|Issue): https?:\/\//.test(line)).toBe(
                true,
              );
      }),
      { numRuns: 50 },
    );
  });
});
