/** A stand-in of the metrics platform's API of alert rules and contact points, as strict as its contract. */
import {
  contactPointProblem,
  type KeptPoint,
  keptPoint,
  mergedSettings,
  shownPoint,
} from "./grafana-contact-point.ts";
import { type Json, ruleProblem, storedRule } from "./grafana-rule.ts";
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** Settings of Grafana. */
export type MonitoringOptions = StandInOptions & {
  token: string;
  /** Uids of the folders that exist. */
  folders?: string[];
  /** Types of the data sources that exist, by uid. */
  dataSources?: Record<string, string>;
  /** The names of the folder's parents and of itself, the outermost first. */
  folderPath?: string[];
  /** Before Grafana 12: a title is unique in its folder, and a taken uid or title is a 400 instead of a 409. */
  isOld?: boolean;
};

type RouteName =
  | "dataSource"
  | "folder"
  | "list"
  | "read"
  | "create"
  | "replace"
  | "group"
  | "points"
  | "createPoint"
  | "replacePoint"
  | "policies";

/**
 * A running platform.
 *
 * Shape: `rules` is what it keeps, by uid; `intervals` the seconds of a group; `points` the integrations of the contact
 *        points with their secrets; `policies` the tree of notification policies; `writes` every call that was not a
 *        reading one, whatever its answer.
 */
export type Monitoring = StandIn<RouteName> & {
  rules: Map<string, Json>;
  intervals: Map<string, number>;
  points: KeptPoint[];
  policies: Json;
  writes(): LedgerEntry[];
  /** Adds a rule that is not ours: made on the pages (`provenance` empty) or by a file (`file`). */
  seed(rule: Json, provenance?: string): unknown;
};

type Work = () => Promise<void>;

const DEFAULT_INTERVAL_SECONDS = 60;

/** What every platform has from the start. */
export const DEFAULT_POINT: KeptPoint = {
  uid: "default-email",
  name: "grafana-default-email",
  type: "email",
  disableResolveMessage: false,
  settings: { addresses: "<example@email.com>" },
  provenance: "",
};
const DEFAULT_POLICIES = { receiver: DEFAULT_POINT.name, group_by: ["grafana_folder", "alertname"] };

/** Starts a platform. */
export async function startMonitoring(options: MonitoringOptions): Promise<Monitoring> {
  const rules = new Map<string, Json>();
  const intervals = new Map<string, number>();
  const folders = new Set(options.folders ?? []);
  const folderPath = options.folderPath ?? ["VPS"];
  const points: KeptPoint[] = [structuredClone(DEFAULT_POINT)];
  let ids = 0;

  function gate({ headers }: LedgerEntry): Answer | null {
    if (headers.authorization === `Bearer ${options.token}`) return null;
    if (headers.authorization === undefined) return structured(401, "auth.unauthorized", "Unauthorized");
    return structured(401, "api-key.invalid", "Invalid API key");
  }

  /** Old versions answer with another status. */
  const refusal = (old: Answer, now: Answer) => (options.isOld ? old : now);
  const ok = (json: unknown): Answer => ({ status: 200, json });
  const provenanceOf = ({ headers }: LedgerEntry) =>
    headers["x-disable-provenance"] === undefined ? "api" : "";

  function validated({ body }: LedgerEntry): Answer | null {
    const problem = ruleProblem(body);
    if (problem !== null) return plain(400, problem);
    const { folderUID, notification_settings: settings } = body as Json;
    if (!folders.has(folderUID as string)) return plain(400, `invalid alert rule: folder does not exist`);
    const receiver = (settings as Json | null | undefined)?.receiver;
    if (receiver === undefined || points.some(({ name }) => name === receiver)) return null;
    const text = `receiver ${receiver} does not exist`;
    return refusal(plain(500, text), plain(400, `invalid alert rule: ${text}`));
  }

  /** Why a rule of this uid and body collides with another: before Grafana 12 also by its title in its folder. */
  function conflict(uid: string, { title, folderUID }: Json, isNew: boolean): Answer | null {
    const isTaken = [...rules.values()].some((rule) =>
      rule.uid === uid ? isNew : options.isOld && rule.title === title && rule.folderUID === folderUID,
    );
    const text = "rule UID or title is already in use";
    const id = "alerting.alert-rule.conflict";
    return isTaken ? refusal(plain(400, `[${id}] ${text}`), structured(409, id, text)) : null;
  }

  function keep(rule: Json, provenance: string): Json {
    const kept = storedRule(rule, ++ids, provenance);
    rules.set(rule.uid as string, kept);
    const group = groupKey(kept.folderUID, kept.ruleGroup);
    if (!intervals.has(group)) intervals.set(group, DEFAULT_INTERVAL_SECONDS);
    return kept;
  }

  async function create(entry: LedgerEntry, work: Work): Promise<Answer> {
    const refused = validated(entry);
    if (refused !== null) return refused;
    await work();
    const body = { uid: `generated-${ids}`, ...(entry.body as Json) };
    return conflict(body.uid, body, true) ?? { status: 201, json: keep(body, provenanceOf(entry)) };
  }

  async function replace(entry: LedgerEntry, work: Work, uid: string): Promise<Answer> {
    const refused = validated(entry);
    if (refused !== null) return refused;
    await work();
    const present = rules.get(uid);
    if (present === undefined) return { status: 404, text: "null" };
    const mode = provenanceOf(entry);
    if (present.provenance !== "" && present.provenance !== mode) {
      const text = `cannot change provenance from '${present.provenance}' to '${mode}'`;
      return refusal(plain(500, text), structured(409, "alerting.provenanceMismatch", text));
    }
    const body = { ...(entry.body as Json), uid };
    return conflict(uid, body, false) ?? ok(keep(body, mode));
  }

  function group(folder = "", name = ""): Answer {
    const inside = [...rules.values()].filter((rule) => rule.folderUID === folder && rule.ruleGroup === name);
    if (inside.length === 0) return { status: 404, json: { message: "", traceID: "" } };
    const interval = intervals.get(groupKey(folder, name));
    return ok({ title: name, folderUid: folder, interval, rules: inside });
  }

  async function createPoint(entry: LedgerEntry, work: Work): Promise<Answer> {
    const body = { uid: `generated-${++ids}`, ...(entry.body as Json) } as Json & { uid: string };
    const problem = contactPointProblem(entry.body, body.settings);
    if (problem !== null) return plain(400, problem);
    await work();
    const id = "alerting.notifications.contact-points.uidExists";
    if (points.some((point) => point.uid === body.uid))
      return refusal(
        plain(500, "contact point uid already exists"),
        structured(409, id, "Contact point UID exists"),
      );
    const point = keptPoint(body, body.uid, provenanceOf(entry));
    points.push(point);
    return { status: 202, json: shownPoint(point) };
  }

  async function replacePoint(entry: LedgerEntry, work: Work, uid: string): Promise<Answer> {
    const at = points.findIndex((point) => point.uid === uid);
    const present = points[at];
    if (present === undefined) return plain(404, `contact point with uid '${uid}' not found`);
    const body = (entry.body ?? {}) as Json;
    const settings = mergedSettings(body, present);
    const problem = contactPointProblem(entry.body, settings);
    if (problem !== null) return plain(400, problem);
    const provenance = provenanceOf(entry);
    if (present.provenance !== "" && present.provenance !== provenance)
      return plain(500, `cannot change provenance from '${present.provenance}' to '${provenance}'`);
    await work();
    points[at] = keptPoint({ ...body, settings }, uid, provenance);
    return { status: 202, json: { message: "contactpoint updated" } };
  }

  const reading = (pattern: RegExp, answer: (...parts: string[]) => Answer) => ({
    method: "GET",
    pattern,
    handle: async (_entry: LedgerEntry, match: RegExpMatchArray) =>
      answer(...match.slice(1).map(decodeURIComponent)),
  });
  const writing = (
    method: "POST" | "PUT",
    pattern: RegExp,
    write: (entry: LedgerEntry, work: Work, uid: string) => Promise<Answer>,
  ) => ({
    method,
    pattern,
    handle: async (entry: LedgerEntry, [, uid = ""]: RegExpMatchArray, work: Work) =>
      entry.headers["content-type"]?.startsWith("application/json")
        ? write(entry, work, decodeURIComponent(uid))
        : plain(415, "unsupported media type"),
  });
  const API = "^/api/v1/provisioning";
  const [RULES, RULE] = [new RegExp(`${API}/alert-rules$`), new RegExp(`${API}/alert-rules/([^/]+)$`)];
  const [POINTS, POINT] = [
    new RegExp(`${API}/contact-points$`),
    new RegExp(`${API}/contact-points/([^/]+)$`),
  ];
  const standIn = await startStandIn<RouteName>(
    {
      folder: reading(/^\/api\/folders\/([^/]+)$/, (uid) =>
        folders.has(uid!)
          ? ok(folderOf(uid!, folderPath))
          : structured(404, "folder.not-found", "folder not found"),
      ),
      dataSource: reading(/^\/api\/datasources\/uid\/([^/]+)$/, (uid) => {
        const type = options.dataSources?.[uid!];
        if (type === undefined) return { status: 404, json: { message: "Data source not found" } };
        return ok({ id: 1, uid, name: "Cloud", type });
      }),
      list: reading(RULES, () => ok([...rules.values()])),
      read: reading(RULE, (uid) => (rules.has(uid!) ? ok(rules.get(uid!)) : { status: 404, text: "null" })),
      create: writing("POST", RULES, create),
      replace: writing("PUT", RULE, replace),
      group: reading(new RegExp(`${API}/folder/([^/]+)/rule-groups/([^/]+)$`), group),
      points: reading(POINTS, () => ok(points.map(shownPoint))),
      createPoint: writing("POST", POINTS, createPoint),
      replacePoint: writing("PUT", POINT, replacePoint),
      policies: reading(new RegExp(`${API}/policies$`), () => ok(platform.policies)),
    },
    { ...options, gate, notFound: () => ({ status: 404, json: { message: "Not found" } }) },
  );

  const platform: Monitoring = Object.assign(standIn, {
    rules,
    intervals,
    points,
    policies: structuredClone(DEFAULT_POLICIES) as Json,
    writes: () => standIn.ledger.filter(({ method }) => method !== "GET"),
    seed: (rule: Json, provenance = "") => keep(rule, provenance),
  });
  return platform;
}

function folderOf(uid: string, path: readonly string[]): Json {
  const parents = path.slice(0, -1).map((title, at) => ({ uid: `parent-${at}`, title }));
  return { id: 1, uid, title: path.at(-1), ...(parents.length === 0 ? {} : { parents }) };
}

/** How `intervals` names a group. */
export function groupKey(folder: unknown, group: unknown): string {
  return `${folder}/${group}`;
}

function plain(status: number, message: string): Answer {
  return { status, json: { message, traceID: "" } };
}

function structured(statusCode: number, messageId: string, message: string): Answer {
  return { status: statusCode, json: { statusCode, messageId, message, traceID: "a1b2" } };
}
