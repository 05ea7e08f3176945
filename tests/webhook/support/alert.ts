import fc from "fast-check";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";

/** An alert as the rules make it, with a test's changes. */
export function alertWith(parts: Partial<Alert> = {}): Alert {
  return {
    name: "Traefik RAM Alta",
    status: "firing",
    firing: true,
    squad: "infra",
    severity: "warning",
    fingerprint: "5c1f0e9a77b3d2e4",
    summary: "Proxy acima de 500 MiB",
    description: "O proxy usa mais de 500 MiB.",
    startsAt: "2026-03-02T08:15:30Z",
    endsAt: "0001-01-01T00:00:00Z",
    value: "612368384",
    labels: { alertname: "Traefik RAM Alta", ruleGroup: "vps-infra", severity: "warning" },
    ruleUrl: "https://example.grafana.net/alerting/grafana/vps-traefik-ram/view?orgId=1",
    silenceUrl: "https://example.grafana.net/alerting/silence/new?alertmanager=grafana&orgId=1",
    dashboardUrl: "https://example.grafana.net/d/vps?from=1&to=2",
    truncatedAlerts: 0,
    ...parts,
  };
}

/** Pieces of text that try to be markup, links or lines. */
const NASTY = [
  ..."*_~`>#-+=|[]()<>&!@\\ \n\r\t0123456789.:/\"'",
  "\u0000",
  "\u0085",
  "\u2028",
  "\u202E",
  "\u2066",
  "\u200B",
  "\uFEFF",
  "\uD83D",
  "\uDE00",
  "👨‍👩‍👧‍👦",
  "e\u0301",
  "```",
  "\n> ",
  "\n- ",
  "\n1. ",
  "\n---\n",
  "| --- |",
  "<script>",
  "<!--",
  "&lt;",
  "&#42;",
  "https://evil.example/a_b",
  "http://",
  "www.evil.example",
  "javascript:alert(1)",
  "[x](https://evil.example)",
  "![x](https://evil.example)",
  "[x]: https://evil.example",
  "@fulano",
  "a@evil.example",
  "\n🔴 disparado: *x*",
  "Regra: https://evil.example",
  "ação",
];

/** Texts that try to break out, short and long. */
export const hostileText = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary", maxLength: 3 })), {
      maxLength: 30,
    })
    .map((parts) => parts.join("")),
  fc.tuple(fc.constantFrom(...NASTY), fc.nat(6000)).map(([part, times]) => part.repeat(times)),
);

const text = fc.option(hostileText, { nil: null });

const url = fc.option(
  fc.oneof(
    hostileText,
    hostileText.map((rest) => `https://example.com/${rest}`),
    hostileText.map((rest) => `https://example.com/?${rest}`),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
  ),
  { nil: null },
);

/** Any alert that the type allows, with texts that try to break out. */
export const anyAlert: fc.Arbitrary<Alert> = fc.record({
  name: text,
  status: fc.oneof(fc.constantFrom("firing", "resolved"), text),
  firing: fc.boolean(),
  squad: fc.constantFrom("infra", "security", "geral"),
  severity: text,
  fingerprint: hostileText,
  summary: text,
  description: text,
  startsAt: fc.oneof(fc.constant("2026-03-02T08:15:30Z"), text),
  endsAt: fc.oneof(fc.constant("2026-03-02T08:15:30Z"), text),
  value: text,
  labels: fc.dictionary(hostileText, hostileText, { maxKeys: 8 }),
  ruleUrl: url,
  silenceUrl: url,
  dashboardUrl: url,
  truncatedAlerts: fc.nat(),
});
