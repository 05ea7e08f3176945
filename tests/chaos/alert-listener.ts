/** A stand-in of the webhook that hears how a run ended: it answers as `opsctl webhook serve` does, and remembers. */
import { type StandIn, startStandIn } from "../standins/standin.ts";

/** One alert as it was posted. */
export type HeardAlert = { status: "firing" | "resolved"; fingerprint: string; severity: string };

/** A running listener; `heard` is what it has taken, in order. */
export type AlertListener = StandIn<"post"> & { heard: HeardAlert[] };

type Posted = Omit<HeardAlert, "severity"> & { labels: { severity: string } };

/** Starts a listener that knows this secret. */
export async function startAlertListener(secret: string): Promise<AlertListener> {
  const heard: HeardAlert[] = [];
  const standIn = await startStandIn(
    {
      post: {
        method: "POST",
        pattern: /^\/$/,
        async handle({ headers, body }) {
          if (headers["x-webhook-secret"] !== secret) return { status: 401 };
          const { status, fingerprint, labels } = body as Posted;
          heard.push({ status, fingerprint, severity: labels.severity });
          return { status: 200, json: { alerts: [{ fingerprint }] } };
        },
      },
    },
    { notFound: () => ({ status: 404 }) },
  );
  return Object.assign(standIn, { heard });
}
