import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type EmailedAlert, renderAlertEmail } from "../../../../lib/webhook/texts/email/alert-email.ts";
import { alertWith, anyAlert } from "../../support/alert.ts";

const nowMs = Date.parse("2026-03-02T08:20:40Z");
const MINUTE = 60_000;
type Parts = Parameters<typeof alertWith>[0] & Partial<Omit<EmailedAlert, "alert">>;
const unheard = ({ status, ...parts }: Omit<Parts, "status"> & { status?: EmailedAlert["status"] } = {}) => ({
  alert: alertWith({ severity: "critical", labels: { instance: "main" }, ...parts }),
  status: status ?? ("queued" as const),
  acceptedAtMs: parts.acceptedAtMs ?? nowMs - 4 * MINUTE,
  issueUrl: parts.issueUrl ?? null,
});
const email = (alerts: EmailedAlert[], reason: string | null = null) =>
  renderAlertEmail(alerts, { nowMs, reason, comesLater: true });

describe("renderAlertEmail()", () => {
  test("says in plain text what a message would, and why it comes by e-mail", () => {
    const { subject, text } = email(
      [
        unheard({
          value: "11.2",
          unit: "percent",
          description: "Veja `df`.\nE *mais*.",
          issueUrl: "https://linear.app/x/issue/OPS-1",
        }),
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
  Veja \`df\`.
  E *mais*.
  instance=main
Valor: 11,2 %
Painel: https://example.grafana.net/d/vps?from=1&to=2
Regra: https://example.grafana.net/alerting/grafana/vps-traefik-ram/view?orgId=1
Silenciar: https://example.grafana.net/alerting/silence/new?alertmanager=grafana&orgId=1
Issue: https://linear.app/x/issue/OPS-1
`);
  });

  test("says of one with an unknown result that it may have arrived", () => {
    const unknown = unheard({ status: "in_doubt" });
    const alone = email([unknown], "gateway_timeout").text;
    expect(alone).toStartWith("Por e-mail porque não se sabe se o WhatsApp entregou (gateway_timeout):");
    expect(alone).toContain("\nRecebido 05:16. Pode ter chegado pelo WhatsApp: não houve confirmação.\n");
    const queued = [3, 2].map((minutes) => unheard({ acceptedAtMs: nowMs - minutes * MINUTE }));
    const both = email([unknown, ...queued]).text;
    expect(both).toStartWith("Por e-mail porque o WhatsApp não recebe desde 05:17.");
  });

  test("says of those that WhatsApp does not acknowledge that they may not have arrived", () => {
    const silent = unheard({ status: "unacknowledged" });
    const { text } = email([silent]);
    expect(text).toStartWith(
      "Por e-mail porque o gateway aceitou as últimas mensagens e o WhatsApp não confirmou nenhuma: podem não ter chegado.\n",
    );
    expect(text).toContain(
      "\nRecebido 05:16. O gateway aceitou, o WhatsApp não confirmou: pode não ter chegado.\n",
    );
    expect(text).not.toContain("instance=");
    const many = Array.from({ length: 11 }, () => silent);
    expect(email(many).text).toContain(" · pode não ter chegado\n");
    expect(email([silent, unheard()]).text).toStartWith(
      "Por e-mail porque o WhatsApp não recebe desde 05:16.",
    );
  });

  test("has all of several, with the first in the subject and the rest counted", () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => unheard({ name: `Regra ${i}`, fingerprint: `${i}` }));
    expect(email(many(2)).subject).toBe("🔴 Regra 0 · main e mais 1 alerta");
    const { subject, text, html } = email(many(100));
    expect(subject).toBe("🔴 Regra 0 · main e mais 99 alertas");
    for (const part of [text, html]) {
      expect(part.split("Proxy acima")).toHaveLength(1 + 10);
      expect(part).toContain("🔴 Regra 10 · main · Crítico · infra · desde 05:15 (há 5 min)");
      expect(part).toContain("Regra 99 · main");
    }
  });

  test("says how many alerts the platform left out beside one", () => {
    expect(email([unheard({ truncatedAlerts: 15 })]).text).toContain("\n  +15 alertas não mostrados\n");
  });

  test("says of each whether it may have arrived, also in a line", () => {
    const list = Array.from({ length: 12 }, (_, i) => unheard({ status: i === 11 ? "in_doubt" : "queued" }));
    expect(email(list).text).toMatch(/há 5 min\)\n.*há 5 min\) · pode ter chegado\n$/);
  });

  test("does not take a rule that could not be evaluated for the incident", () => {
    const labels = { alertname: "DatasourceError", rulename: "Disco", instance: "main" };
    const { subject, text } = email([unheard({ name: "Disco", labels, description: "deadline" })]);
    expect(subject).toBe("⚠️ Disco não pôde ser avaliado · main");
    expect(text).toContain("\n  A avaliação da regra falhou (DatasourceError)\n  deadline\n");
    expect(text).not.toContain("Proxy acima");
  });

  test("does not call well what has ended without a measurement", () => {
    const alert = alertWith({ name: "Disco", status: "resolved", firing: false, reason: "MissingSeries" });
    const { subject, text } = email([{ ...unheard(), alert }]);
    expect(subject).toStartWith("⚠️ Disco encerrado sem medição");
    expect(text).toContain("\n  A série da regra sumiu: o problema pode continuar (MissingSeries)\n");
  });

  test("keeps a subject short, on one line, with its count", () => {
    const long = unheard({ name: `a\r\nBcc: x@evil.example ${"n".repeat(500)}` });
    const { subject } = email([long, long]);
    expect(subject.length).toBeLessThanOrEqual(150);
    expect(email([unheard({ name: "😀".repeat(99), labels: { a: "b".repeat(99) } })]).subject).toHaveLength(
      150,
    );
    expect(subject).toMatch(/^🔴 a Bcc: x\S+ nnn/u);
    expect(subject).toEndWith("n… · main e mais 1 alerta");
  });

  test("has no markup and no link but ours, whatever the alerts say", () => {
    const alerts = fc.array(anyAlert, { minLength: 1, maxLength: 12 });
    const statuses = fc.constantFrom("queued" as const, "in_doubt" as const);
    fc.assert(
      fc.property(alerts, statuses, (some, status) => {
        const list = some.map((alert) => ({ alert, status, acceptedAtMs: nowMs, issueUrl: null }));
        const { subject, html, text } = email(list);
        expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        for (const part of [subject, html, text]) expect(part.isWellFormed()).toBe(true);
        const tags = [...html.matchAll(/<([a-z0-9]+)/gi)].map(([, tag]) => tag!);
        const ours = "html head meta title style body div p h2 strong a".split(" ");
        expect(tags.filter((tag) => !ours.includes(tag))).toEqual([]);
        expect(html).not.toMatch(/href="(?!https?:\/\/)/);
      }),
      { numRuns: 25 },
    );
  });
});
