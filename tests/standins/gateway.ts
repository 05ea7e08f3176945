/** A stand-in of the messaging gateway: Evolution API v2 as far as its contract is known, gate order included. */
import { randomBytes, randomUUID } from "node:crypto";
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** Settings of the gateway; `instances` maps a name to its state (null: a state that the answer leaves out). */
export type GatewayOptions = StandInOptions & {
  adminKey: string;
  instances?: Record<string, "open" | "close" | "connecting" | null>;
  /** Numbers that WhatsApp does not know. */
  absentNumbers?: string[];
  /** Keys of single instances, by the instance's name; the others get one of their own. */
  tokens?: Record<string, string>;
};

/** A text that the gateway took and would have sent; two of them are two messages, whatever they hold. */
export type AcceptedText = { instance: string; number: string; text: string; id: string; at: Date };

/**
 * A running gateway.
 *
 * Shape: `accepted` is what was sent; `instances` and `absentNumbers` may be changed while it runs; faults are
 *        ordered with `routes.send.next(...)`, `routes.state.next(...)` and `routes.instances.next(...)`. `tokenOf` is
 *        the key that opens one instance only.
 */
export type Gateway = StandIn<"send" | "state" | "instances"> & {
  accepted: AcceptedText[];
  tokenOf(instance: string): string;
  instances: Map<string, string | null>;
  absentNumbers: Set<string>;
};

/** Starts a gateway. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const instances = new Map<string, string | null>(Object.entries(options.instances ?? { ops: "open" }));
  const absentNumbers = new Set(options.absentNumbers ?? []);
  const accepted: AcceptedText[] = [];
  const { opens, tokenOf } = keysOf(options);

  // The instance is looked up before the key is compared: a wrong key on a missing instance is a 404.
  function guard(entry: LedgerEntry, encoded: string): Answer | string {
    const instance = decodeURIComponent(encoded);
    if (!instances.has(instance))
      return refusal(404, "Not Found", [`The "${instance}" instance does not exist`]);
    if (!opens(entry.headers.apikey, instance)) return refusal(401, "Unauthorized", "Unauthorized");
    return instance;
  }

  function list({ headers }: LedgerEntry): Answer {
    const seen = [...instances].filter(([name]) => opens(headers.apikey, name));
    if (seen.length === 0 && headers.apikey !== options.adminKey)
      return refusal(401, "Unauthorized", "Unauthorized");
    return { status: 200, json: seen.map(([name, state]) => instanceRow(name, state, tokenOf(name))) };
  }

  async function send(entry: LedgerEntry, encoded: string, work: () => Promise<void>): Promise<Answer> {
    if (entry.body === undefined) return refusal(400, "Internal Server Error", "Unexpected token in JSON");
    const instance = guard(entry, encoded);
    if (typeof instance !== "string") return instance;
    const body = entry.body as Record<string, unknown>;
    const problems = schemaProblems(body, entry);
    if (problems.length > 0) return refusal(400, "Bad Request", [problems]);
    const { number, text } = body as { number: string; text: string };
    if (text.trim() === "") return refusal(400, "Bad Request", ["Text is required"]);
    const jid = `${number}@s.whatsapp.net`;
    if (absentNumbers.has(number)) return refusal(400, "Bad Request", [{ jid, exists: false, number }]);
    await work();
    const id = `3EB0${randomBytes(9).toString("hex").toUpperCase()}`;
    accepted.push({ instance, number, text, id, at: new Date() });
    return { status: 201, json: sentMessage(jid, id, text) };
  }

  const standIn = await startStandIn(
    {
      send: {
        method: "POST",
        pattern: /^\/message\/sendText\/([^/]+)$/,
        handle: (entry, match, work) => send(entry, match[1]!, work),
      },
      state: {
        method: "GET",
        pattern: /^\/instance\/connectionState\/([^/]+)$/,
        async handle(entry, match, work) {
          await work();
          const instance = guard(entry, match[1]!);
          if (typeof instance !== "string") return instance;
          const state = instances.get(instance);
          const known = state === null || state === undefined ? {} : { state };
          return { status: 200, json: { instance: { instanceName: instance, ...known } } };
        },
      },
      instances: {
        method: "GET",
        pattern: /^\/instance\/fetchInstances$/,
        async handle(entry, _match, work) {
          await work();
          return list(entry);
        },
      },
    },
    {
      ...options,
      notFound: ({ method, path }) => refusal(404, "Not Found", [`Cannot ${method} ${path}`]),
    },
  );
  return Object.assign(standIn, { accepted, instances, absentNumbers, tokenOf });
}

type Keys = {
  opens(apikey: string | undefined, instance: string): boolean;
  tokenOf(instance: string): string;
};

// The global key opens everything, an instance's own token that instance.
function keysOf({ adminKey, tokens }: GatewayOptions): Keys {
  const known = new Map<string, string>(Object.entries(tokens ?? {}));
  const tokenOf = (instance: string) => {
    const token = known.get(instance) ?? randomUUID().toUpperCase();
    known.set(instance, token);
    return token;
  };
  return { tokenOf, opens: (apikey, instance) => apikey === adminKey || apikey === tokenOf(instance) };
}

function instanceRow(name: string, state: string | null, token: string): unknown {
  return {
    id: randomUUID(),
    name,
    connectionStatus: state ?? "close",
    ownerJid: "5511900000000@s.whatsapp.net",
    profileName: "Operations",
    number: null,
    integration: "WHATSAPP-BAILEYS",
    token,
    disconnectionReasonCode: null,
    disconnectionAt: null,
  };
}

function refusal(status: number, error: string, message: unknown): Answer {
  return { status, json: { status, error, response: { message } } };
}

function schemaProblems(body: Record<string, unknown>, entry: LedgerEntry): string[] {
  if (!/^application\/json\b/.test(entry.headers["content-type"] ?? "")) return ["Invalid format"];
  const problems = ["number", "text"]
    .filter((key) => body[key] === undefined)
    .map((key) => `instance requires property "${key}"`);
  const wrong = ["number", "text"].filter((key) => body[key] !== undefined && typeof body[key] !== "string");
  return [...problems, ...wrong.map((key) => `${key} is not of a type(s) string`)];
}

function sentMessage(remoteJid: string, id: string, text: string): unknown {
  return {
    key: { remoteJid, fromMe: true, id },
    pushName: "",
    status: "PENDING",
    message: { conversation: text },
    messageType: "conversation",
    messageTimestamp: Math.floor(Date.now() / 1000),
    instanceId: randomUUID(),
    source: "web",
  };
}
