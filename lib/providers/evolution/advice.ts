import { metaVerdictOf } from "./meta-error.ts";

/** What is wrong with the gateway, and what to do about it; each a clause without a final period. */
export type GatewayAdvice = { problem: string; fix: string };

/**
 * The variables of a command's gateway, which the weekly run and the alerts name differently, and the command that puts
 * another key in the place of this one.
 */
export type GatewayNames = { url: string; key: string; setKey: string };

/** The code for a key that the gateway does not take. */
export const GATEWAY_KEY_REFUSED = "gateway_unauthorized";

/** The weekly run's variables. */
export const WEEKLY_GATEWAY: GatewayNames = {
  url: "GATEWAY_URL",
  key: "GATEWAY_ADMIN_KEY",
  setKey: "opsctl secret set GATEWAY_ADMIN_KEY",
};

/** The variables of the gateway that sends alerts. */
export const ALERT_GATEWAY: GatewayNames = {
  url: "MESSAGING_API_URL",
  key: "MESSAGING_API_KEY",
  setKey: "opsctl secret set MESSAGING_API_KEY, then systemctl reload opsctl-webhook.service",
};

/** A sender tenant without an instance: the gateway is not even asked. */
export const NO_SENDER_INSTANCE = { code: "sem_instancia_gateway", cause: "sender_instance_missing" };

const PAIR = "Open the gateway's manager and pair the sending phone with the instance again (QR code)";

/** The gateway connects again by itself where it can, see `PASSING` in `state.ts`. */
const LOOK_AGAIN =
  "Wait a minute and look again; if it stays so, pair the sending phone in the gateway's manager (QR code)";

const KNOWN: Readonly<Record<string, (names: GatewayNames) => GatewayAdvice>> = {
  instance_close: () => ({ problem: "the instance is not connected to its phone", fix: LOOK_AGAIN }),
  instance_refused: () => ({ problem: "WhatsApp refused the instance's connection", fix: PAIR }),
  instance_connecting: () => ({
    problem: "the instance is connecting, or waits for its QR code to be scanned",
    fix: LOOK_AGAIN,
  }),
  instance_not_loaded: () => ({
    problem: "the gateway has the instance in its database and has not loaded it",
    fix: "Restart the gateway; if that does not help, connect the instance in the gateway's manager",
  }),
  instance_missing: () => ({
    problem: "the gateway has no instance of that name",
    fix: "Create the instance in the gateway and pair its phone, or correct the instance's name",
  }),
  sender_instance_missing: () => ({
    problem: "the sender tenant has no messaging instance",
    fix: "Connect an instance to the tenant of WHATSAPP_REPORT_SENDER_TENANT_ID in the application",
  }),
  sem_instancia_gateway: () => ({
    problem: "no instance can send: there is none, or its phone is not connected",
    fix: "Create the instance in the gateway, or pair its phone again",
  }),
  gateway_instances_ambiguous: () => ({
    problem: "the key sees several instances",
    fix: "Set MESSAGING_INSTANCE to the one that sends",
  }),
  [GATEWAY_KEY_REFUSED]: ({ key, setKey }) => ({
    problem: "the gateway refuses the key",
    fix: `Correct ${key} (${setKey})`,
  }),
  gateway_license_required: ({ url }) => ({
    problem: "the gateway has no active licence, and without one it does nothing",
    fix: `Activate the gateway's licence: open /manager/login below ${url} in a browser`,
  }),
  gateway_request_invalid: ({ key }) => ({
    problem: "the request cannot be made: the instance's name or the key has characters that none may have",
    fix: `Correct the instance's name or ${key}`,
  }),
  gateway_unreachable: ({ url }) => ({
    problem: "no connection to the gateway (refused, name not found, or certificate not accepted)",
    fix: `Start the gateway, or correct ${url}`,
  }),
  gateway_timeout: ({ url }) => ({
    problem: "the gateway did not answer in time",
    fix: `Look whether the gateway hangs or ${url} leads elsewhere`,
  }),
  gateway_connection_lost: ({ url }) => ({
    problem: "the connection to the gateway broke off",
    fix: `Look at the gateway's log, and whether ${url} leads to it (http or https, port)`,
  }),
  gateway_database_failed: () => ({
    problem: "the gateway cannot ask its own database",
    fix: "Look at the gateway's database and at the gateway's log",
  }),
  gateway_connection_closed: () => ({
    problem: "the gateway's connection to WhatsApp is closed, also when its state is open",
    fix: "Restart the instance in the gateway's manager",
  }),
  gateway_answer_unreadable: (names) =>
    notTheGateway("is not the gateway, or a page stands before it", names),
  gateway_http_404: (names) => notTheGateway("does not know the gateway's routes", names),
};

function notTheGateway(what: string, { url }: GatewayNames): GatewayAdvice {
  return { problem: `what answers ${what}`, fix: `Correct ${url}: the gateway's own base address` };
}

/**
 * The advice on a code of the gateway's, or null for one without.
 *
 * Shape: `cause`, where it is known, is the code behind `sem_instancia_gateway`, and decides.
 */
export function gatewayAdvice(
  { code, cause }: { code: string; cause?: string | null | undefined },
  names: GatewayNames,
): GatewayAdvice | null {
  const key = cause ?? code;
  const known = Object.hasOwn(KNOWN, key) ? KNOWN[key] : undefined;
  return known?.(names) ?? adviceOnStatus(key, names) ?? adviceOnMeta(key);
}

function adviceOnStatus(code: string, { url }: GatewayNames): GatewayAdvice | null {
  const [, status] = /^gateway_http_(\d{3})$/.exec(code) ?? [];
  if (status === undefined) return null;
  return {
    problem: `the gateway, or a proxy before it, answers HTTP ${status}`,
    fix: `Look at the log of the gateway and at what stands between it and ${url}`,
  };
}

/** Codes with advice of their own; the others get that of their group. */
const KNOWN_TO_META: Readonly<Record<string, GatewayAdvice>> = {
  meta_190: {
    problem: "Meta refuses the access token of the gateway's instance",
    fix: "Give the instance in the gateway a new, lasting token of the Meta account",
  },
  meta_131047: {
    problem: "Meta takes no free text for a number that has not written to the sender within 24 hours",
    fix: "Let the recipient write to the sending number, or send through an instance with a paired phone",
  },
};

function adviceOnMeta(code: string): GatewayAdvice | null {
  const listed = code === "meta_0" ? "meta_190" : code;
  if (Object.hasOwn(KNOWN_TO_META, listed)) return KNOWN_TO_META[listed]!;
  const lookUp = `Look up ${code.replace("meta_", "")} in Meta's list of error codes (WhatsApp Business Platform)`;
  switch (metaVerdictOf(code)?.status) {
    case "account":
      return {
        problem: "Meta refuses the sending account: permission, lock, payment or number",
        fix: `${lookUp}, and put right the account in Meta's Business Manager`,
      };
    case "throttled":
      return {
        problem: "Meta limits how much this account may send",
        fix: "Wait, and send less at a time; WhatsApp Manager shows the account's limits and quality",
      };
    case "message":
      return { problem: "Meta refuses this message", fix: lookUp };
    default:
      return null;
  }
}
