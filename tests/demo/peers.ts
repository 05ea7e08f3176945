/** The three systems on the other side of the wire, with a little latency, as local stand-ins. */
import type postgres from "postgres";
import { type AnalysisBody, type Application, startApplication } from "../standins/application.ts";
import { type EmailProvider, startEmailProvider } from "../standins/email-provider.ts";
import { type Gateway, startGateway } from "../standins/gateway.ts";
import { writeAnalysis } from "../support/seed.ts";
import type { SeededTenant } from "./seed-tenants.ts";

/** What the stand-ins ask for; nothing outside this demo accepts it. */
export const SECRETS = {
  TRIGGER_SECRET: "demo-trigger-secret",
  SOCIAL_EDITORIALS_CRON_SECRET: "demo-editorials-secret",
  GATEWAY_ADMIN_KEY: "demo-gateway-key",
  EMAIL_API_KEY: "re_demo_key",
};

/** How long each of them takes to answer. */
export const LATENCY_MS = 120;

/** The WhatsApp message whose answer is lost on the way, counted from the first. */
const LOST_ANSWER = 4;

/** The three peers, running. */
export type Peers = { application: Application; gateway: Gateway; email: EmailProvider };

/** Starts them for these customers; `now` is the gateway's clock. */
export async function startPeers(
  sql: postgres.Sql,
  tenants: SeededTenant[],
  now: () => Date,
): Promise<Peers> {
  const findingOf = (connectionId: string) =>
    tenants.map(({ findings }) => findings.get(connectionId)).find((finding) => finding !== undefined)!;
  const application = await startApplication({
    latencyMs: LATENCY_MS,
    triggerSecret: SECRETS.TRIGGER_SECRET,
    cronSecret: SECRETS.SOCIAL_EDITORIALS_CRON_SECRET,
    async onAnalyze(body) {
      const tenant = tenants.find(({ findings }) => findings.has(body.connectionId))!;
      const { metrics = {}, insights = [] } = tenant.findings.get(body.connectionId)!;
      await writeAnalysis(sql, body, {
        ...(tenant.score === undefined ? {} : { score: tenant.score }),
        metrics,
        insights: insights.map((text, i) => ({ code: `finding_${i + 1}`, text })),
      });
    },
    editorials: [
      { truncated: true, nextCursor: "after-tenant-3", llmCalls: 3, processed: 3, skipped: 0, failures: [] },
      { truncated: true, nextCursor: "after-tenant-6", llmCalls: 0, processed: 0, skipped: 3, failures: [] },
      { truncated: true, nextCursor: "after-tenant-9", llmCalls: 2, processed: 2, skipped: 1, failures: [] },
      { truncated: false, nextCursor: null, llmCalls: 3, processed: 3, skipped: 0, failures: [] },
    ],
  });
  application.routes.analysis.scriptByBody = ({ body }) =>
    findingOf((body as AnalysisBody).connectionId).fails
      ? { status: 422, json: { error: "token_expired" } }
      : undefined;
  const gateway = await startGateway({ latencyMs: LATENCY_MS, adminKey: SECRETS.GATEWAY_ADMIN_KEY });
  gateway.now = now;
  const { send } = gateway.routes;
  send.script = () => (send.calls.length === LOST_ANSWER ? { accept: "drop" } : undefined);
  const email = await startEmailProvider({ latencyMs: LATENCY_MS, apiKey: SECRETS.EMAIL_API_KEY });
  return { application, gateway, email };
}
