/** A service with both ways to a person, gateway and fallback e-mail: their troubles, and what each of them delivered. */
import { alertOf, type Service, START_MS } from "./start-service.ts";

/** As far as the clock moves at once where minutes pass: no watch of the service looks more often. */
export const STEP_MS = 5_000;

/** `away` is a proxy that has lost its gateway, `closed` one without its phone, `unclear` breaks off each send. */
export type GatewayTrouble = "none" | "away" | "closed" | "unclear";

/** `away` is a provider that closes each connection, `unclear` one that sends and answers 500. */
export type EmailTrouble = "none" | "away" | "unclear";

/** Puts the gateway into this trouble, and out of any other. */
export function setGateway({ gateway }: Service, trouble: GatewayTrouble): void {
  const { routes, instances } = gateway;
  instances.set("ops", trouble === "closed" ? "close" : "open");
  for (const route of Object.values(routes))
    route.script = trouble === "away" ? () => ({ status: 502, text: "Bad Gateway" }) : null;
  if (trouble === "unclear") routes.send.script = () => "drop_unread";
}

/** As `setGateway`, for the provider of the fallback e-mail. */
export function setEmail({ email }: Service, trouble: EmailTrouble): void {
  const answers = {
    none: null,
    away: "drop_unread",
    unclear: { accept: { status: 500, json: {} } },
  } as const;
  const answer = answers[trouble];
  email.routes.send.script = answer === null ? null : () => answer;
}

/** A critical alert whose name is found in every text about it. */
export const critical = (name: string): Record<string, unknown> =>
  alertOf(`alert-${name}`, { labels: { severity: "critical" } });

/** An e-mail: when it was taken, or sent, and the alerts that it names. */
export type Mail = { second: number; alerts: string[] };

/** The e-mails that the provider took, in their order. */
export const mails = ({ email }: Service): Mail[] =>
  email.accepted.map(({ at, text = "" }) => ({ second: secondOf(at), alerts: namesIn(text) }));

/** The calls by which e-mails were sent, answered or not. */
export const mailCalls = ({ email }: Service) =>
  email.routes.send.calls.map(({ at, headers, rawBody }) => ({
    second: secondOf(at),
    key: headers["idempotency-key"]!,
    body: rawBody,
    alerts: namesIn(rawBody),
  }));

/** The alerts of the messages on the phone, in their order. */
export const onPhone = ({ messages }: Service): string[] => messages.flatMap(({ text }) => namesIn(text));

const secondOf = (at: Date) => (at.getTime() - START_MS) / 1_000;

function namesIn(text: string): string[] {
  return [...new Set([...text.matchAll(/alert-(\w+)/g)].map(([, name]) => name!))];
}
