/** A stand-in of opsctl's own webhook, for the run that announces its end: it takes an alert as the webhook's parser does. */
import { parseAlerts } from "../../lib/webhook/alert/parse.ts";
import { type StandIn, startStandIn } from "./standin.ts";

/** A running one; faults are ordered with `routes.alerts.next(...)`. */
export type AlertWebhook = StandIn<"alerts"> & {
  endpoint: string;
  /** What was posted: the status of each alert, or its severity where that is a warning. */
  posted(): string[];
};

/** Starts one that takes this secret. */
export async function startAlertWebhook(secret: string): Promise<AlertWebhook> {
  const standIn = await startStandIn(
    {
      alerts: {
        method: "POST",
        pattern: /^\/webhook$/,
        async handle({ headers, body }) {
          if (headers["x-webhook-secret"] !== secret) return { status: 401, json: {} };
          const parsed = parseAlerts(body);
          if ("invalid" in parsed) return { status: 422, json: parsed };
          const alerts = parsed.alerts.map(({ fingerprint }) => ({ fingerprint, whatsapp: "queued" }));
          return { status: 200, json: { accepted: alerts.length, alerts } };
        },
      },
    },
    { notFound: () => ({ status: 404, json: {} }) },
  );
  const posted = () =>
    standIn.routes.alerts.calls.map(({ body }) => {
      const { status, labels } = body as { status: string; labels: { severity: string } };
      return status === "firing" && labels.severity === "warning" ? "warning" : status;
    });
  return Object.assign(standIn, { endpoint: `${standIn.url}/webhook`, posted });
}
