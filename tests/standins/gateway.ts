/** A stand-in of the messaging gateway: Evolution API v2 as far as its contract is known, gate order included. */
import { randomBytes, randomUUID } from "node:crypto";
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** What an instance sends through: a paired phone, or Meta's own API. */
export type Integration = "WHATSAPP-BAILEYS" | "WHATSAPP-BUSINESS";

/**
 * Settings of the gateway.
 *
 * Shape: `instances` maps a name to its state; null is an instance that is in the database and not loaded. One that
 *        `integrations` does not name sends through a phone.
 */
export type GatewayOptions = StandInOptions & {
  adminKey: string;
  instances?: Record<string, "open" | "close" | "connecting" | null>;
  integrations?: Record<string, Integration>;
  /** Numbers that WhatsApp does not know. */
  absentNumbers?: string[];
  /** Keys of single instances, by the instance's name; the others get one of their own. */
  tokens?: Record<string, string>;
};

/** A text that the gateway took and would have sent; two of them are two messages, whatever they hold. */
export type AcceptedText = { instance: string; number: string; text: string; id: string; at: Date };

/**
 * A row that the gateway keeps of what an instance has sent; a test may change, add and remove rows.
 *
 * Units: `sentAt` is in whole seconds.
 */
export type KeptRow = {
  instance: string;
  remoteJid: string;
  id: string;
  text: string;
  sentAt: number;
  fromMe?: boolean;
  statuses?: string[];
};

/**
 * A running gateway.
 *
 * Shape: `kept` is what findMessages finds, unless `keepsMessages` is off; `now` is the gateway's clock. `accepted` is
 *        what was sent; everything else of it may be changed while it runs; faults are ordered with
 *        `routes.send.next(...)`, `routes.state.next(...)` and `routes.instances.next(...)`. `tokenOf` is the key that
 *        opens one instance only; `metaError` is the error object with which Meta answers each send of a business
 *        instance; without a licence every route is closed, as from version 2.4.0 on.
 */
export type Gateway = StandIn<"send" | "state" | "instances" | "messages"> & {
  accepted: AcceptedText[];
  kept: KeptRow[];
  keepsMessages: boolean;
  now: () => Date;
  tokenOf(instance: string): string;
  instances: Map<string, string | null>;
  integrations: Map<string, Integration>;
  absentNumbers: Set<string>;
  isLicensed: boolean;
  metaError: object | null;
};

/** Starts a gateway. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const instances = new Map<string, string | null>(Object.entries(options.instances ?? { ops: "open" }));
  const integrations = new Map<string, Integration>(Object.entries(options.integrations ?? {}));
  const absentNumbers = new Set(options.absentNumbers ?? []);
  const accepted: AcceptedText[] = [];
  const kept: KeptRow[] = [];
  const more = {
    accepted,
    kept,
    keepsMessages: true,
    now: () => new Date(),
    instances,
    integrations,
    absentNumbers,
    isLicensed: true,
    metaError: null,
  };
  const { opens, tokenOf } = keysOf(options);
  const isBusiness = (instance: string) => integrations.get(instance) === "WHATSAPP-BUSINESS";
  // With Meta's API there is nothing to be paired.
  const stateOf = (instance: string) => {
    const state = instances.get(instance) ?? null;
    return state !== null && isBusiness(instance) ? "open" : state;
  };

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
    const rows = seen.map(([name]) => instanceRow(name, stateOf(name), tokenOf(name), isBusiness(name)));
    return { status: 200, json: rows };
  }

  async function send(entry: LedgerEntry, encoded: string, work: () => Promise<void>): Promise<Answer> {
    const instance = guard(entry, encoded);
    if (typeof instance !== "string") return instance;
    const body = entry.body as Record<string, unknown>;
    const problems = schemaProblems(body, entry);
    if (problems.length > 0) return refusal(400, "Bad Request", [problems]);
    const { number, text } = body as { number: string; text: string };
    if (stateOf(instance) === null) return refusal(500, "Internal Server Error", NOT_LOADED);
    if (text.trim() === "") return refusal(400, "Bad Request", ["Text is required"]);
    const known = accepted.some((earlier) => earlier.instance === instance && earlier.number === number);
    const stopped = isBusiness(instance) ? metaAnswer() : phoneAnswer(instance, number, known);
    if (stopped !== null) return stopped;
    await work();
    const id = isBusiness(instance) ? wamid() : `3EB0${randomBytes(9).toString("hex").toUpperCase()}`;
    const [at, remoteJid] = [gateway.now(), `${number}@s.whatsapp.net`];
    const sentAt = Math.floor(at.getTime() / 1000);
    accepted.push({ instance, number, text, id, at });
    if (gateway.keepsMessages) kept.push({ instance, remoteJid, id, text, sentAt });
    return { status: 201, json: sentMessage(remoteJid, id, text, sentAt) };
  }

  function findMessages(entry: LedgerEntry, encoded: string): Answer {
    const instance = guard(entry, encoded);
    if (typeof instance !== "string") return instance;
    const problems = queryProblems(entry);
    if (problems.length > 0) return refusal(400, "Bad Request", [problems]);
    if (stateOf(instance) === null) return refusal(500, "Internal Server Error", NOT_LOADED_FOR_READING);
    return {
      status: 200,
      json: foundMessages(
        kept.filter((row) => row.instance === instance),
        entry.body as Query,
      ),
    };
  }

  // Meta's refusal is handed through as it came, under the status of a success.
  function metaAnswer(): Answer | null {
    const { metaError } = gateway;
    return metaError === null ? null : { status: 201, json: metaError };
  }

  // Whether the number exists is asked over the phone's connection, unless the answer of an earlier send is known; then
  // the connection is missed only inside the send, which turns everything into a 400.
  function phoneAnswer(instance: string, number: string, isKnown: boolean): Answer | null {
    const isOpen = stateOf(instance) === "open";
    if (!isOpen && isKnown) return refusal(400, "Bad Request", ["Error: Connection Closed"]);
    if (!isOpen) return refusal(500, "Internal Server Error", "Connection Closed");
    const jid = `${number}@s.whatsapp.net`;
    return absentNumbers.has(number) ? refusal(400, "Bad Request", [{ jid, exists: false, number }]) : null;
  }

  // The body is parsed before the licence is looked at, and the licence before any route.
  function gate(entry: LedgerEntry): Answer | null {
    if (entry.rawBody !== "" && entry.body === undefined)
      return refusal(400, "Internal Server Error", "Unexpected token in JSON");
    return gateway.isLicensed ? null : unlicensed(entry);
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
          const state = stateOf(instance);
          const known = state === null ? {} : { state };
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
      messages: {
        method: "POST",
        pattern: /^\/chat\/findMessages\/([^/]+)$/,
        async handle(entry, match, work) {
          await work();
          return findMessages(entry, match[1]!);
        },
      },
    },
    {
      ...options,
      gate,
      notFound: ({ method, path }) => refusal(404, "Not Found", [`Cannot ${method} ${path}`]),
    },
  );
  const gateway: Gateway = Object.assign(standIn, more, { tokenOf });
  return gateway;
}

const NOT_LOADED = "Cannot read properties of undefined (reading 'textMessage')";

const NOT_LOADED_FOR_READING = "Cannot read properties of undefined (reading 'fetchMessages')";

type Query = {
  where?: {
    key?: { id?: string; fromMe?: boolean; remoteJid?: string };
    messageTimestamp?: { gte?: string; lte?: string };
  };
  page?: number;
  offset?: number;
};

function queryProblems({ body, headers }: LedgerEntry): string[] {
  if (!/^application\/json\b/.test(headers["content-type"] ?? "")) return ["Invalid format"];
  const { where } = body as Query;
  if (where !== undefined && (typeof where !== "object" || where === null))
    return ["where is not of a type(s) object"];
  const key = where?.key ?? {};
  const isText = (value: unknown) => value === undefined || (typeof value === "string" && value !== "");
  if (!isText(key.remoteJid) || !isText(key.id)) return ["The property cannot be empty"];
  return key.fromMe === undefined || typeof key.fromMe === "boolean"
    ? []
    : ["fromMe is not of a type(s) boolean"];
}

// The filter of time needs both bounds, or there is none; `fromMe: false` filters nothing; whole seconds.
function foundMessages(rows: KeptRow[], { where = {}, page = 1, offset = 50 }: Query): unknown {
  const { key = {}, messageTimestamp: { gte, lte } = {} } = where;
  const seconds = (text: string) => Math.floor(new Date(text).getTime() / 1000);
  const found = rows
    .filter(({ id }) => key.id === undefined || id === key.id)
    .filter(({ fromMe = true }) => !key.fromMe || fromMe)
    .filter(({ remoteJid }) => key.remoteJid === undefined || remoteJid === key.remoteJid)
    .filter(({ sentAt }) => !gte || !lte || (sentAt >= seconds(gte) && sentAt <= seconds(lte)))
    .toSorted((a, b) => b.sentAt - a.sentAt);
  return {
    messages: {
      total: found.length,
      pages: Math.ceil(found.length / offset),
      currentPage: page,
      records: found.slice((page - 1) * offset, page * offset).map(keptRecord),
    },
  };
}

function keptRecord({ remoteJid, id, text, sentAt, fromMe = true, statuses = [] }: KeptRow): unknown {
  return {
    id: `c${randomBytes(12).toString("hex")}`,
    key: { remoteJid, fromMe, id },
    pushName: "Você",
    messageType: "conversation",
    message: { conversation: text },
    messageTimestamp: sentAt,
    instanceId: randomUUID(),
    source: "web",
    contextInfo: null,
    MessageUpdate: statuses.map((status) => ({ status })),
  };
}

function wamid(): string {
  return `wamid.${randomBytes(36).toString("base64")}`;
}

function unlicensed({ headers }: LedgerEntry): Answer {
  const register_url = `http://${headers.host}/manager/login`;
  return {
    status: 503,
    json: {
      error: "service not activated",
      code: "LICENSE_REQUIRED",
      register_url,
      instance_id: randomUUID(),
      docs_url: "https://docs.gateway.example/licensing",
      message: `This instance is not activated. Open ${register_url} to activate it.`,
    },
  };
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

function instanceRow(name: string, state: string | null, token: string, isBusiness: boolean): unknown {
  return {
    id: randomUUID(),
    name,
    connectionStatus: state ?? "close",
    ownerJid: "5511900000000@s.whatsapp.net",
    profileName: "Operations",
    number: null,
    integration: isBusiness ? "WHATSAPP-BUSINESS" : "WHATSAPP-BAILEYS",
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

function sentMessage(remoteJid: string, id: string, text: string, sentAt: number): unknown {
  return {
    key: { remoteJid, fromMe: true, id },
    pushName: "",
    status: "PENDING",
    message: { conversation: text },
    messageType: "conversation",
    messageTimestamp: sentAt,
    instanceId: randomUUID(),
    source: "web",
  };
}
