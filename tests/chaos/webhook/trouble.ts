/** Two channels in trouble: the gateway almost always, the e-mail provider in turns with being well. */
import type { EmailProvider } from "../../standins/email-provider.ts";
import type { Gateway } from "../../standins/gateway.ts";
import type { Scripted } from "../../standins/standin.ts";
import type { Random } from "../random.ts";

const MINUTE_MS = 60_000;

/** `away`: a proxy that has lost its gateway; `closed`: without its phone; `unclear`: sends that may have arrived. */
type GatewayMode = "well" | "away" | "closed" | "unclear";
type EmailMode = "well" | "away" | "unclear";
type Stretch<Mode> = { mode: Mode; untilMs: number };

/** What is in trouble when, on the clock of the service. */
export type TroublePlan = { gateway: Stretch<GatewayMode>[]; email: Stretch<EmailMode>[]; totalMs: number };

const GATEWAY_TROUBLES = ["away", "closed", "unclear"] as const;
const UNCLEAR_SENDS: readonly Scripted[] = [
  "drop_unread",
  { accept: "drop" },
  { accept: { status: 500, json: { status: 500, error: "Internal Server Error" } } },
];
const UNCLEAR_EMAILS: readonly Scripted[] = [
  "drop",
  { accept: "drop" },
  { accept: { status: 500, json: {} } },
];

/** Long enough for alerts to wait for four minutes beside the kills, which take a quarter of the time. */
const CALM_MINUTES = 8;

/**
 * Plans some twenty minutes.
 *
 * Behaviour: the e-mail provider is away and unclear in turns, and well for eight minutes after each, so that it can be
 *            seen whether alerts are heard in time; only at their end the gateway is well for a moment.
 */
export function planTrouble(random: Random): TroublePlan {
  const email = new Timeline<EmailMode>();
  const gateway = new Timeline<GatewayMode>();
  const kinds = random.below(2) === 0 ? (["away", "unclear"] as const) : (["unclear", "away"] as const);
  for (const kind of kinds) {
    email.add(kind, 2 + random.below(200) / 100);
    email.add("well", CALM_MINUTES);
    while (gateway.endMs < email.endMs - MINUTE_MS) {
      const mode = GATEWAY_TROUBLES[random.below(GATEWAY_TROUBLES.length)]!;
      gateway.add(mode, mode === "unclear" ? 0.5 : 1 + random.below(300) / 100);
    }
    gateway.add("well", 1 / 3);
  }
  return { email: email.stretches, gateway: gateway.stretches, totalMs: email.endMs };
}

/** Stretches one after the other. */
class Timeline<Mode> {
  readonly stretches: Stretch<Mode>[] = [];
  endMs = 0;

  add(mode: Mode, minutes: number): void {
    this.endMs += minutes * MINUTE_MS;
    this.stretches.push({ mode, untilMs: this.endMs });
  }
}

/** Makes the peers as planned for this time; returns whether the e-mail provider is well. */
export function makeTrouble(
  plan: TroublePlan,
  atMs: number,
  peers: { gateway: Gateway; email: EmailProvider },
): { isEmailWell: boolean } {
  setGateway(peers.gateway, modeAt(plan.gateway, atMs));
  const mode = modeAt(plan.email, atMs);
  setEmail(peers.email, mode);
  return { isEmailWell: mode === "well" };
}

/** `well` after all that is planned. */
function modeAt<Mode>(stretches: Stretch<Mode>[], atMs: number): Mode | "well" {
  return stretches.find(({ untilMs }) => atMs < untilMs)?.mode ?? "well";
}

function setGateway({ routes, instances }: Gateway, mode: GatewayMode): void {
  instances.set("ops", mode === "closed" ? "close" : "open");
  for (const route of Object.values(routes))
    route.script = mode === "away" ? () => ({ status: 502, text: "Bad Gateway" }) : null;
  if (mode === "unclear") routes.send.script = () => UNCLEAR_SENDS[routes.send.calls.length % 3];
}

function setEmail({ routes: { send } }: EmailProvider, mode: EmailMode): void {
  send.script = null;
  if (mode === "away") send.script = () => "drop_unread";
  if (mode === "unclear") send.script = () => UNCLEAR_EMAILS[send.calls.length % 3];
}
