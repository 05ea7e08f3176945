import type { Alert } from "../../../lib/webhook/alert/alert.ts";

/** A firing alert as it was accepted, with `changes`. */
export function sampleAlert(changes: Partial<Alert> = {}): Alert {
  return {
    name: "VPS Load Average Alto",
    status: "firing",
    firing: true,
    squad: "infra",
    severity: "warning",
    fingerprint: "f1",
    summary: "Load acima de 15",
    description: null,
    startsAt: "2026-11-16T14:00:00Z",
    endsAt: null,
    value: "B=17",
    labels: { alertname: "VPS Load Average Alto", severity: "warning", ruleGroup: "vps-infra" },
    ruleUrl: null,
    silenceUrl: null,
    dashboardUrl: null,
    truncatedAlerts: 0,
    ...changes,
  };
}

/** A resolved alert, with `changes`. */
export function resolvedAlert(changes: Partial<Alert> = {}): Alert {
  return sampleAlert({ status: "resolved", firing: false, ...changes });
}
