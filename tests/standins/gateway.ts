/**
 * A stand-in of the messaging gateway: Evolution API v2 as far as its contract is known, gate order included.
 *
 * Source: compared, answer by answer, with a running 2.3.6 (github.com/EvolutionAPI/evolution-api at 3454bec) and its
 *         PostgreSQL, behind which only WhatsApp and Meta were stand-ins, 2026-11-23.
 */
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
 *        instance; without a licence every route is closed, as from version 2.4.0 on. Without its database the gateway
 *        knows the instances that it has loaded and the global key, and nothing else. With `proxyStatus` a proxy in
 *        front passes every send on and answers it by itself, before it has the gateway's answer. `isCutOff` closes
 *        every connection to WhatsApp, whatever the states say.
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
  hasDatabase: boolean;
  isCutOff: boolean;
  metaError: object | null;
  proxyStatus: keyof typeof PROXY_TEXTS | null;
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
    now: options.clock ?? (() => new Date()),
    instances,
    integrations,
    absentNumbers,
    isLicensed: true,
    hasDatabase: true,
    isCutOff: false,
    metaError: null,
    proxyStatus: null,
  };
  const { opens, tokenOf } = keysOf(options);
  // Whichever instance asked: the gateway keeps for seven days that a number is on WhatsApp.
  const knownNumbers = new Set<string>();
  const isBusiness = (instance: string) => integrations.get(instance) === "WHATSAPP-BUSINESS";
  // With Meta's API there is nothing to be paired.
  const stateOf = (instance: string) => {
    const state = instances.get(instance) ?? null;
    return state !== null && isBusiness(instance) ? "open" : state;
  };

  // The instance is looked up before the key is compared: a wrong key on a missing instance is a 404.
  function guard(entry: LedgerEntry, encoded: string): Answer | string {
    const instance = decodeURIComponent(encoded);
    const isLoaded = (instances.get(instance) ?? null) !== null;
    if (!gateway.hasDatabase && !isLoaded) return databaseFailure("instance.findMany", "guard");
    if (!instances.has(instance))
      return refusal(404, "Not Found", [`The "${instance}" instance does not exist`]);
    return isLetIn(entry, instance) ? instance : refusal(401, "Unauthorized", "Unauthorized");
  }

  // An instance's own token is looked up in the database, and what fails there is taken for a wrong key.
  function isLetIn({ headers: { apikey } }: LedgerEntry, instance: string): boolean {
    return gateway.hasDatabase ? opens(apikey, instance) : apikey === options.adminKey;
  }

  function list(entry: LedgerEntry): Answer {
    const { headers } = entry;
    if (!gateway.hasDatabase && headers.apikey === options.adminKey)
      return databaseFailure("instance.findMany");
    const seen = [...instances].filter(([name]) => isLetIn(entry, name));
    if (seen.length === 0 && headers.apikey !== options.adminKey)
      return refusal(401, "Unauthorized", "Unauthorized");
    const rows = seen.map(([name]) => instanceRow(name, stateOf(name), tokenOf(name), isBusiness(name)));
    return { status: 200, json: rows };
  }

  async function send(entry: LedgerEntry, encoded: string, work: () => Promise<void>): Promise<Answer> {
    const instance = guard(entry, encoded);
    if (typeof instance !== "string") return instance;
    const body = bodyOf(entry);
    const problems = schemaProblems(body);
    if (problems.length > 0) return refusal(400, "Bad Request", [problems]);
    const { number, text } = body as { number: string; text: string };
    if (stateOf(instance) === null) return refusal(500, "Internal Server Error", NOT_LOADED);
    const stopped = isBusiness(instance) ? metaAnswer() : phoneAnswer(instance, { number, text });
    if (stopped !== null) return stopped;
    await work();
    const id = isBusiness(instance) ? wamid() : `3EB0${randomBytes(9).toString("hex").toUpperCase()}`;
    const [at, remoteJid] = [gateway.now(), jidOf(number)];
    const sentAt = Math.floor(at.getTime() / 1000);
    accepted.push({ instance, number, text, id, at });
    if (!gateway.keepsMessages) return { status: 201, json: sentMessage(remoteJid, id, text, sentAt) };
    // The row is written after the send, and a failure to write it is answered like one to send.
    if (!gateway.hasDatabase || !text.isWellFormed() || text.includes("\0"))
      return databaseFailure("message.create", "send");
    kept.push({ instance, remoteJid, id, text, sentAt });
    return { status: 201, json: sentMessage(remoteJid, id, text, sentAt) };
  }

  function findMessages(entry: LedgerEntry, encoded: string): Answer {
    const instance = guard(entry, encoded);
    if (typeof instance !== "string") return instance;
    const query = bodyOf(entry) as Query;
    const problems = queryProblems(query);
    if (problems.length > 0) return refusal(400, "Bad Request", [problems]);
    if (stateOf(instance) === null) return refusal(500, "Internal Server Error", NOT_LOADED_FOR_READING);
    if (!gateway.hasDatabase) return databaseFailure("message.count");
    const own = kept.filter((row) => row.instance === instance);
    return { status: 200, json: foundMessages(own, query) };
  }

  // Meta's refusal is handed through as it came, under the status of a success.
  function metaAnswer(): Answer | null {
    const { metaError } = gateway;
    return metaError === null ? null : { status: 201, json: metaError };
  }

  // Whether the number exists is asked over the phone's connection, unless that is known; then the connection is missed
  // only inside the send, which turns everything into a 400.
  function phoneAnswer(instance: string, { number, text }: { number: string; text: string }): Answer | null {
    if (text.trim() === "") return refusal(400, "Bad Request", ["Text is required"]);
    if (!gateway.hasDatabase) return databaseFailure("contact.findMany");
    const [isOpen, jid] = [stateOf(instance) === "open" && !gateway.isCutOff, jidOf(number)];
    if (!isOpen && knownNumbers.has(jid)) return refusal(400, "Bad Request", ["Error: Connection Closed"]);
    if (!isOpen) return refusal(500, "Internal Server Error", "Connection Closed");
    if (absentNumbers.has(number)) return refusal(400, "Bad Request", [{ jid, exists: false, number }]);
    knownNumbers.add(jid);
    return null;
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
        async handle(entry, match, work) {
          const { proxyStatus } = gateway;
          const answer = await send(entry, match[1]!, work);
          return proxyStatus === null ? answer : { status: proxyStatus, text: PROXY_TEXTS[proxyStatus] };
        },
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

/** What Traefik says in the place of a peer whose answer it does not get, as plain text. */
const PROXY_TEXTS = { 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout" } as const;

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

// What is not declared as JSON is not read, and neither is a body of nothing: both are an empty object.
function bodyOf({ body, headers }: LedgerEntry): Record<string, unknown> {
  const isJson = /^application\/json\b/.test(headers["content-type"] ?? "");
  return isJson && typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
}

// The digit rule of the gateway: a mobile number of Brazil has nine digits below area 31, and eight from there on where
// it had as many before; those of Mexico and Argentina lose theirs.
function jidOf(number: string): string {
  const [, country, area, line] = /^(\d{2})(\d{2})\d(\d{8})$/.exec(number) ?? [];
  const isOld = country === "55" && Number(area) >= 31 && /^[7-9]/.test(line!);
  const isForeign = /^5[24]\d{11}$/.test(number);
  const digits = isOld ? `55${area}${line}` : isForeign ? number.slice(0, 2) + number.slice(3) : number;
  return `${digits}@s.whatsapp.net`;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function queryProblems({ where }: Query): string[] {
  if (where !== undefined && !isObject(where)) return ["where is not of a type(s) object"];
  if (where?.key !== undefined && !isObject(where.key)) return ["where.key is not of a type(s) object"];
  const key = where?.key ?? {};
  const isText = (value: unknown) => value === undefined || (typeof value === "string" && value !== "");
  if (!isText(key.remoteJid) || !isText(key.id)) return ["The property cannot be empty"];
  return key.fromMe === undefined || typeof key.fromMe === "boolean"
    ? []
    : ["where.key.fromMe is not of a type(s) boolean"];
}

// The filter of time needs both bounds, or there is none; `fromMe: false` filters nothing; whole seconds. Among rows of
// one second the order is not defined, and another one for each page.
function foundMessages(rows: KeptRow[], { where = {}, page = 1, offset = 50 }: Query): unknown {
  const { key = {}, messageTimestamp: { gte, lte } = {} } = where;
  const seconds = (text: string) => Math.floor(new Date(text).getTime() / 1000);
  const found = rows
    .filter(({ id }) => key.id === undefined || id === key.id)
    .filter(({ fromMe = true }) => !key.fromMe || fromMe)
    .filter(({ remoteJid }) => key.remoteJid === undefined || remoteJid === key.remoteJid)
    .filter(({ sentAt }) => !gte || !lte || (sentAt >= seconds(gte) && sentAt <= seconds(lte)))
    .toSorted((a, b) => b.sentAt - a.sentAt || (page % 2 === 0 ? 1 : -1) * (a.id < b.id ? 1 : -1));
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

function schemaProblems(body: Record<string, unknown>): string[] {
  const missing = ["number", "text"].filter((key) => body[key] === undefined);
  const isWrong = (key: string) => body[key] !== undefined && typeof body[key] !== "string";
  return [
    ...missing.map((key) => `instance requires property "${key}"`),
    ...(isWrong("number") ? ["Invalid format"] : []),
    ...(isWrong("text") ? ["text is not of a type(s) string"] : []),
  ];
}

const NO_DATABASE = "Can't reach database server at 127.0.0.1:5432";

/**
 * A failure of the gateway's own database, as it is told by where it happens: in the guard, inside the send, elsewhere.
 */
function databaseFailure(query: string, where?: "guard" | "send"): Answer {
  const text = `\nInvalid \`prisma.${query}()\` invocation:\n\n\n${NO_DATABASE}`;
  const named = [`PrismaClientKnownRequestError: ${text}`];
  if (where === "send") return refusal(400, "Bad Request", named);
  return refusal(500, "Internal Server Error", where === "guard" ? named : text);
}

function sentMessage(remoteJid: string, id: string, text: string, sentAt: number): unknown {
  return {
    key: { remoteJid, fromMe: true, id },
    pushName: "Você",
    status: "PENDING",
    message: { conversation: text },
    messageType: "conversation",
    messageTimestamp: sentAt,
    instanceId: randomUUID(),
    source: "web",
  };
}
