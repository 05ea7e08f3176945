/**
 * What the messaging gateway (Evolution API v2) answers, and what each answer becomes.
 *
 * Source: the gateway's contract, as running servers of 2.3.6, 2.3.7 and 2.4.0-rc2 showed it, read 2026-11-21.
 */
import type { InstanceList } from "../../lib/providers/evolution/client.ts";
import type { ChannelFault, SendOutcome } from "../../lib/providers/send-outcome.ts";
import type { Answer } from "../standins/standin.ts";
import { cases, page } from "./answer-case.ts";

/** The recipient that some answers name; no outcome and no log may name it. */
export const NUMBER = "5511900000001";

/** An error in the gateway's own form. */
export const refusal = (status: number, message: unknown, error = "Bad Request"): Answer => ({
  status,
  json: { status, error, response: { message } },
});

const accepted = (json: unknown): Answer => ({ status: 201, json });

/** Meta's error, which the gateway passes on with the status of a success. */
export const metaError = (more: object): Answer =>
  accepted({ message: `(#1) ${NUMBER} not allowed`, type: "OAuthException", fbtrace_id: "x", ...more });

const sent = (providerMessageId: string): SendOutcome => ({ status: "sent", providerMessageId });
const failed = (code: string): SendOutcome => ({ status: "failed", code, stopsChannel: false });
const stopped = (code: string): SendOutcome => ({ status: "failed", code, stopsChannel: true });
const limited = (code: string, retryAfterMs: number): SendOutcome => ({
  status: "throttled",
  code,
  retryAfterMs,
});
const unknown = (code: string): SendOutcome => ({ status: "unknown", code });
/** Something before the gateway answered, or the gateway says that it cannot reach WhatsApp. */
const outage = (code: string): SendOutcome => ({ status: "unknown", code, isOutage: true });

const failedQuery = (query: string) =>
  `\nInvalid \`${query}()\` invocation in\n/main.js:1:2\n\nCan't reach database server`;
const CONTACT_QUERY = failedQuery("prisma.contact.findMany");
const NO_INSTANCE = 'The "ops" instance does not exist';
const NOT_ON_WHATSAPP = { jid: `${NUMBER}@s.whatsapp.net`, exists: false, number: NUMBER };
const NO_LICENCE = { status: 503, json: { error: "service not activated", code: "LICENSE_REQUIRED" } };
const DATABASE_DOWN = limited("gateway_database_failed", 10_000);
const NO_ID = unknown("gateway_answer_without_id");
const NOT_JSON = unknown("gateway_answer_unreadable");
const LOST = unknown("gateway_connection_lost");
const LATE = unknown("gateway_timeout");
const HTTP_400 = unknown("gateway_http_400");
const HTTP_404 = unknown("gateway_http_404");
const HTTP_500 = unknown("gateway_http_500");
const refusedByMeta: SendOutcome = {
  status: "unknown",
  code: "gateway_http_400",
  channel: { code: "meta_190" },
};

/** Answers to a message that is to be sent by an instance whose state is `open`. */
export const SEND_ANSWERS = cases<SendOutcome>([
  ["201 with an id", accepted({ key: { id: "3EB0FF" } }), sent("3EB0FF"), "run"],
  ["201 with an id and Meta's error", metaError({ code: 190, key: { id: "wamid.A=" } }), sent("wamid.A=")],
  ["201 without an id", accepted({ status: "PENDING" }), NO_ID, "run", "webhook", "e2e"],
  ["201 with an empty id", accepted({ key: { id: "" } }), NO_ID],
  ["201 with a blank id", accepted({ key: { id: " " } }), NO_ID],
  ["201 with a number for an id", accepted({ key: { id: 7 } }), NO_ID],
  ["201 with a list", accepted([]), NO_ID],
  ["201 without a body", { status: 201 }, NOT_JSON],
  ["Meta refuses the message", metaError({ code: 131030 }), failed("meta_131030"), "run", "webhook"],
  ["Meta refuses the account", metaError({ code: 190 }), stopped("meta_190"), "webhook", "e2e"],
  ["Meta's code as text", metaError({ code: "190", error_subcode: 463 }), stopped("meta_190")],
  ["Meta's own fault", metaError({ code: 131000 }), unknown("meta_131000"), "run"],
  ["a code that Meta does not list", metaError({ code: 987_654 }), unknown("meta_987654"), "webhook"],
  ["Meta's limit for an hour", metaError({ code: 131048 }), limited("meta_131048", 30_000), "run", "webhook"],
  [
    "Meta's limit for a second, in the form of Meta's own API",
    accepted({ error: { type: "OAuthException", code: 130429 } }),
    limited("meta_130429", 6_000),
    "run",
  ],
  ["another exception of Meta", metaError({ type: "GraphMethodException", code: 100 }), failed("meta_100")],
  ["Meta's subcode alone", metaError({ error_subcode: 463 }), NO_ID],
  ["Meta's code in other characters", metaError({ code: "19O" }), NO_ID],
  ["a negative code", metaError({ code: -1 }), NO_ID],
  ["a fraction for a code", metaError({ code: 190.5 }), NO_ID],
  ["a code with an unknown type", metaError({ code: 131030, type: "x" }), NO_ID],
  ["a type that ends like Meta's", metaError({ code: 131030, type: "no OAuthException" }), NO_ID],
  ["a type that begins like Meta's", metaError({ code: 131030, type: "OAuthExceptions" }), NO_ID],
  ["Meta's error beside an empty key", metaError({ code: 190, key: {} }), NO_ID],
  ["400 of the body's schema", refusal(400, [["no property text"]]), failed("gateway_body_invalid")],
  ["400 without a text", refusal(400, ["Text is required"]), failed("gateway_text_missing")],
  [
    "400 for a number that is not on WhatsApp",
    refusal(400, [NOT_ON_WHATSAPP]),
    failed("recipient_not_on_whatsapp"),
    "run",
    "webhook",
    "e2e",
  ],
  [
    "400 of the body's parser",
    refusal(400, "Unexpected token", "Internal Server Error"),
    failed("gateway_body_unreadable"),
  ],
  ["400 with the parser's text alone", refusal(400, "Unexpected token"), HTTP_400],
  ["400 with almost the text for no text", refusal(400, ["Text is required "]), HTTP_400],
  ["400 for a number that is on WhatsApp", refusal(400, [{ ...NOT_ON_WHATSAPP, exists: true }]), HTTP_400],
  ["400 from inside the send", refusal(400, ["Error: Connection Closed"]), HTTP_400, "run", "webhook"],
  ["400 from after the send", { accept: refusal(400, ["PrismaClientKnownRequestError: x"]) }, HTTP_400],
  [
    "400 after a query that failed",
    refusal(400, [`PrismaClientKnownRequestError: ${CONTACT_QUERY}`]),
    HTTP_400,
  ],
  ["400 with a refusal among other texts", refusal(400, [["Invalid format"], "Error: x"]), HTTP_400],
  ["400 with an empty list", refusal(400, []), HTTP_400],
  ["400 of a proxy", page(400), HTTP_400],
  ["400 with Meta's refusal of the account", refusal(400, [metaError({ code: 190 }).json]), refusedByMeta],
  ["400 with Meta's refusal of the message", refusal(400, metaError({ code: 131026 }).json), HTTP_400],
  ["401", refusal(401, "Unauthorized", "Unauthorized"), stopped("gateway_unauthorized"), "webhook"],
  ["401 of a proxy", page(401), outage("gateway_http_401")],
  ["403 of a proxy", page(403), outage("gateway_http_403")],
  ["404 for the instance", refusal(404, [NO_INSTANCE]), failed("sem_instancia_gateway"), "run", "webhook"],
  ["404 for the route", refusal(404, ["Cannot POST /v9/message"]), failed("gateway_http_404")],
  ["404 for the instance, and more text", refusal(404, [`${NO_INSTANCE} here, sent by another`]), HTTP_404],
  ["404 for the instance, after more text", refusal(404, [`Sent, but: ${NO_INSTANCE}`]), HTTP_404],
  ["404 of another form", refusal(404, "gone"), HTTP_404],
  ["404 of a proxy", page(404), outage("gateway_http_404")],
  ["408", refusal(408, [["Invalid format"]]), unknown("gateway_http_408")],
  ["409", refusal(409, [["Invalid format"]]), unknown("gateway_http_409")],
  ["413", { status: 413, text: "too large" }, failed("gateway_http_413")],
  [
    "429",
    { status: 429, headers: { "retry-after": "4" } },
    limited("gateway_http_429", 4_000),
    "run",
    "webhook",
  ],
  ["500", refusal(500, "Timed Out"), HTTP_500, "run", "webhook", "e2e"],
  ["500 in a list", refusal(500, ["Error: Connection Closed"]), HTTP_500],
  ["500, cut off from WhatsApp", refusal(500, "Connection Closed"), outage("gateway_http_500"), "webhook"],
  ["500, a query before the send failed", refusal(500, CONTACT_QUERY), DATABASE_DOWN, "run", "webhook"],
  [
    "500, a query before the send failed, in development",
    refusal(500, failedQuery("this.prismaRepository.isOnWhatsapp.findMany")),
    DATABASE_DOWN,
  ],
  ["500, the guard's query failed", refusal(500, [failedQuery("prisma.instance.findMany")]), DATABASE_DOWN],
  ["500, the message's row failed", refusal(500, failedQuery("prisma.message.create")), HTTP_500],
  [
    "500, the message's row failed, and another query is named",
    refusal(500, `${failedQuery("prisma.message.create")} prisma.contact.findMany()`),
    HTTP_500,
  ],
  ["500 that quotes a query that failed", refusal(500, `Error: ${CONTACT_QUERY}`), HTTP_500],
  ["500 with a query among other texts", refusal(500, [CONTACT_QUERY, "sent"]), HTTP_500],
  ["503 without a licence", NO_LICENCE, stopped("gateway_license_required"), "webhook", "e2e"],
  ["302 of a proxy", page(302), outage("gateway_http_302")],
  ["502 of a proxy", page(502), outage("gateway_http_502"), "run", "webhook"],
  ["503 of a proxy", page(503), outage("gateway_http_503")],
  ["504 of a proxy", page(504), outage("gateway_http_504")],
  ["520 of a content network", page(520), outage("gateway_http_520"), "run", "webhook"],
  ["524 of a content network", page(524), outage("gateway_http_524")],
  ["527 of a content network", page(527), outage("gateway_http_527")],
  ["530 of a content network", page(530), outage("gateway_http_530")],
  ["521 in the gateway's form", refusal(521, ["Error: x"]), unknown("gateway_http_521")],
  ["519, which is no content network's", page(519), unknown("gateway_http_519")],
  ["528, which is no content network's", page(528), unknown("gateway_http_528")],
  ["504 in the gateway's form", refusal(504, ["Error: x"]), unknown("gateway_http_504")],
  ["a page instead of an answer", "not_json", NOT_JSON, "e2e"],
  ["4 MiB of blanks", "huge", NOT_JSON],
  ["no answer", "hang", LATE],
  ["accepted, and no answer", { accept: "hang" }, LATE, "run", "webhook"],
  ["half an answer, then silence", "stall_body", LATE],
  ["half an answer, then closed", "break_body", LOST],
  ["closed after the request", "drop", LOST],
  ["closed before the request was read", "drop_unread", LOST],
  ["accepted, then closed", { accept: "drop" }, LOST, "run", "webhook"],
  ["an answer that is not HTTP", "not_http", LOST],
  ["nobody listens", "nobody_listens", failed("gateway_unreachable"), "run", "webhook"],
]);

/** Meta's codes by what each says; the gateway passes them on for an instance of Meta's. */
export const META_CODES: [verdict: string, codes: number[], becomes: (code: string) => SendOutcome][] = [
  [
    "refuses the account",
    [190, 10, 200, 201, 230, 298, 299, 368, 131031, 0, 3, 33, 131005, 131037, 131042, 131045, 133010],
    stopped,
  ],
  ["is over in seconds", [130429, 131056], (code) => limited(code, 6_000)],
  ["is over later", [4, 80007, 131048], (code) => limited(code, 30_000)],
  [
    "refuses the message",
    [
      ...[100, 130472, 130497, 131008, 131009, 131021, 131026, 131030, 131047, 131049, 131050, 131051],
      ...[131052, 131053, 132000, 132001, 132005, 132007, 132012, 132015, 132016, 132068, 132069, 135000],
    ],
    failed,
  ],
  ["proves nothing", [1, 2, 131000, 131016, 131057, 133004, 5, 199, 300, 999_999, 9_999_999], unknown],
];

/**
 * What an answer to the question for an instance's state says.
 *
 * Shape: `open`, or the fault of the channel; `isProved` when the gateway itself says it, so that it also counts after
 *        a send that failed; `stopsChannel` when it refuses us, whatever the instance.
 */
export type StateVerdict = "open" | (ChannelFault & { isProved?: true; stopsChannel?: true });

const state = (value: string | null): Answer => ({
  status: 200,
  json: { instance: { instanceName: "ops", ...(value !== null && { state: value }) } },
});
const closed = (cause: string): ChannelFault => ({ code: "sem_instancia_gateway", cause });
const passing = (cause: string): ChannelFault => ({ ...closed(cause), isPassing: true });
const proved = (fault: ChannelFault) => ({ ...fault, isProved: true as const });
const refused = (code: string) => ({ code, isProved: true as const, stopsChannel: true as const });
const NO_STATE = closed("gateway_answer_unreadable");

/** Answers to the question for the state of the instance `ops`. */
export const STATE_ANSWERS = cases<StateVerdict>([
  ["open", state("open"), "open"],
  ["close", state("close"), proved(passing("instance_close")), "doctor"],
  ["connecting", state("connecting"), proved(passing("instance_connecting")), "doctor"],
  ["refused by WhatsApp", state("refused"), proved(closed("instance_refused"))],
  ["no state: not loaded", state(null), proved(passing("instance_not_loaded")), "doctor"],
  ["404 for the instance", refusal(404, [NO_INSTANCE]), proved(closed("instance_missing")), "doctor"],
  ["401", refusal(401, "Unauthorized"), refused("gateway_unauthorized"), "run", "doctor"],
  ["503 without a licence", NO_LICENCE, refused("gateway_license_required"), "doctor"],
  ["a state in capitals", state("OPEN"), NO_STATE],
  ["neither name nor state", { status: 200, json: { instance: {} } }, NO_STATE],
  ["no instance", { status: 200, json: { state: "open" } }, NO_STATE],
  ["a word", { status: 200, text: "open" }, NO_STATE],
  ["a page", "not_json", NO_STATE, "e2e", "doctor"],
  ["4 MiB of blanks", "huge", NO_STATE],
  ["500", { ...state("open"), status: 500 }, closed("gateway_http_500"), "run"],
  ["302", { ...state("open"), status: 302 }, closed("gateway_http_302")],
  ["502 of a proxy", page(502), passing("gateway_http_502"), "doctor"],
  ["522 of a content network", page(522), passing("gateway_http_522")],
  [
    "500, the guard's query failed",
    refusal(500, [failedQuery("prisma.instance.findMany")]),
    closed("gateway_database_failed"),
  ],
  ["no answer", "hang", closed("gateway_timeout"), "run"],
  ["closed", "drop", passing("gateway_connection_lost"), "run"],
  ["half an answer, then closed", "break_body", passing("gateway_connection_lost")],
  ["nobody listens", "nobody_listens", passing("gateway_unreachable"), "e2e", "doctor"],
]);

const names = (...list: string[]): InstanceList => ({ status: "ok", names: list });
const unlisted = (code: string, stopsChannel = false): InstanceList => ({
  status: "failed",
  code,
  stopsChannel,
});
const NO_NAMES = unlisted("gateway_answer_unreadable");

/** Answers to the question for the instances that the key may see. */
export const INSTANCES_ANSWERS = cases<InstanceList>([
  ["two", { status: 200, json: [{ name: "a", token: "canary-token" }, { name: "b" }] }, names("a", "b")],
  ["none", { status: 200, json: [] }, names()],
  ["401", refusal(401, "Unauthorized"), unlisted("gateway_unauthorized", true), "doctor"],
  ["503 without a licence", NO_LICENCE, unlisted("gateway_license_required", true), "doctor"],
  ["302 of a proxy", page(302), unlisted("gateway_http_302")],
  ["401 of a proxy", page(401), unlisted("gateway_http_401")],
  ["404 of a proxy", page(404), unlisted("gateway_http_404")],
  ["502 of a proxy", page(502), unlisted("gateway_http_502"), "doctor"],
  ["500, the query failed", refusal(500, CONTACT_QUERY), unlisted("gateway_database_failed")],
  ["no list", { status: 200, json: { name: "ops" } }, NO_NAMES],
  ["a row without a name", { status: 200, json: [{ name: "ops" }, { id: 1 }] }, NO_NAMES],
  ["a row with an empty name", { status: 200, json: [{ name: "" }] }, NO_NAMES],
  ["a row of an older version", { status: 200, json: [{ instance: {} }] }, NO_NAMES],
  ["a page", "not_json", NO_NAMES, "doctor"],
  ["4 MiB of blanks", "huge", NO_NAMES],
  ["no answer", "hang", unlisted("gateway_timeout")],
  ["half an answer, then closed", "break_body", unlisted("gateway_connection_lost")],
  ["nobody listens", "nobody_listens", unlisted("gateway_unreachable"), "doctor"],
]);
