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
  | "deleteRule"
  | "replaceGroup"
  | "deleteGroup"
  | "points"
  | "createPoint"
  | "replacePoint"
  | "deletePoint"
  | "policies"
  | "replacePolicies";

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
  seed(rule: Json, provenance?: string): void;
};

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

  function validated(entry: LedgerEntry): Answer | null {
    if (!entry.headers["content-type"]?.startsWith("application/json"))
      return plain(415, "unsupported media type");
    const problem = ruleProblem(entry.body);
    if (problem !== null) return plain(400, problem);
    const { folderUID, notification_settings: settings } = entry.body as Json;
    if (!folders.has(folderUID as string)) return plain(400, `invalid alert rule: folder does not exist`);
    const receiver = (settings as Json | null | undefined)?.receiver;
    if (receiver === undefined || points.some(({ name }) => name === receiver)) return null;
    const text = `receiver ${receiver} does not exist`;
    return options.isOld ? plain(500, text) : plain(400, `invalid alert rule: ${text}`);
  }

  async function createPoint(entry: LedgerEntry, work: () => Promise<void>): Promise<Answer> {
    const refusal = gate(entry) ?? pointRefusal(entry, (entry.body as Json | undefined)?.settings);
    if (refusal !== null) return refusal;
    await work();
    const body = entry.body as Json;
    const uid = (body.uid as string | undefined) ?? `generated-${++ids}`;
    if (points.some((point) => point.uid === uid))
      return options.isOld
        ? plain(500, `contact point uid already exists`)
        : structured(409, "alerting.notifications.contact-points.uidExists", `Contact point UID exists`);
    const point = keptPoint(body, uid, provenanceOf(entry));
    points.push(point);
    return { status: 202, json: shownPoint(point) };
  }

  async function replacePoint(entry: LedgerEntry, uid: string, work: () => Promise<void>): Promise<Answer> {
    const refused = gate(entry);
    if (refused !== null) return refused;
    const at = points.findIndex((point) => point.uid === uid);
    const present = points[at];
    if (present === undefined) return plain(404, `contact point with uid '${uid}' not found`);
    const body = (entry.body ?? {}) as Json;
    const settings = mergedSettings(body, present);
    const refusal = pointRefusal(entry, settings);
    if (refusal !== null) return refusal;
    const provenance = provenanceOf(entry);
    if (present.provenance !== "" && present.provenance !== provenance)
      return plain(500, `cannot change provenance from '${present.provenance}' to '${provenance}'`);
    await work();
    points[at] = keptPoint({ ...body, settings }, uid, provenance);
    return { status: 202, json: { message: "contactpoint updated" } };
  }

  function pointRefusal(entry: LedgerEntry, settings: unknown): Answer | null {
    if (!entry.headers["content-type"]?.startsWith("application/json"))
      return plain(415, "unsupported media type");
    const problem = contactPointProblem(entry.body, settings);
    return problem === null ? null : plain(400, problem);
  }

  function provenanceOf(entry: LedgerEntry): string {
    return entry.headers["x-disable-provenance"] === undefined ? "api" : "";
  }

  function titleTaken({ uid, title, folderUID }: Json): boolean {
    if (!options.isOld) return false;
    return [...rules.values()].some(
      (rule) => rule.uid !== uid && rule.title === title && rule.folderUID === folderUID,
    );
  }

  function keep(entry: LedgerEntry): Json {
    const body = entry.body as Json;
    const provenance = provenanceOf(entry);
    const uid = (body.uid as string | undefined) ?? `generated-${ids}`;
    const kept = storedRule({ ...body, uid }, ++ids, provenance);
    rules.set(uid, kept);
    const group = groupKey(kept.folderUID, kept.ruleGroup);
    if (!intervals.has(group)) intervals.set(group, DEFAULT_INTERVAL_SECONDS);
    return kept;
  }

  async function create(entry: LedgerEntry, work: () => Promise<void>): Promise<Answer> {
    const refusal = gate(entry) ?? validated(entry);
    if (refusal !== null) return refusal;
    await work();
    const body = entry.body as Json;
    if (rules.has(body.uid as string) || titleTaken(body)) return conflict();
    return { status: 201, json: keep(entry) };
  }

  function conflict(): Answer {
    const text = "[alerting.alert-rule.conflict] rule UID or title is already in use";
    return options.isOld ? plain(400, text) : structured(409, "alerting.alert-rule.conflict", text.slice(31));
  }

  async function replace(entry: LedgerEntry, uid: string, work: () => Promise<void>): Promise<Answer> {
    const refusal = gate(entry) ?? validated(entry);
    if (refusal !== null) return refusal;
    await work();
    const present = rules.get(uid);
    if (present === undefined) return { status: 404, text: "null" };
    const mode = provenanceOf(entry);
    if (present.provenance !== "" && present.provenance !== mode) {
      const text = `cannot change provenance from '${present.provenance}' to '${mode}'`;
      return options.isOld ? plain(500, text) : structured(409, "alerting.provenanceMismatch", text);
    }
    if (titleTaken({ ...(entry.body as Json), uid })) return conflict();
    return { status: 200, json: keep({ ...entry, body: { ...(entry.body as Json), uid } }) };
  }

  function group(folder: string, name: string): Answer {
    const inside = [...rules.values()].filter((rule) => rule.folderUID === folder && rule.ruleGroup === name);
    const interval = intervals.get(groupKey(folder, name));
    if (inside.length === 0 || interval === undefined)
      return { status: 404, json: { message: "", traceID: "" } };
    return { status: 200, json: { title: name, folderUid: folder, interval, rules: inside } };
  }

  const RULES = /^\/api\/v1\/provisioning\/alert-rules$/;
  const RULE = /^\/api\/v1\/provisioning\/alert-rules\/([^/]+)$/;
  const GROUP = /^\/api\/v1\/provisioning\/folder\/([^/]+)\/rule-groups\/([^/]+)$/;
  const POINTS = /^\/api\/v1\/provisioning\/contact-points$/;
  const POINT = /^\/api\/v1\/provisioning\/contact-points\/([^/]+)$/;
  const POLICIES = /^\/api\/v1\/provisioning\/policies$/;
  const gated = (entry: LedgerEntry, answer: () => Answer) => Promise.resolve(gate(entry) ?? answer());
  const standIn = await startStandIn<RouteName>(
    {
      folder: {
        method: "GET",
        pattern: /^\/api\/folders\/([^/]+)$/,
        handle: (entry, [, uid]) =>
          gated(entry, () =>
            folders.has(part(uid))
              ? { status: 200, json: folderOf(part(uid), folderPath) }
              : structured(404, "folder.not-found", "folder not found"),
          ),
      },
      dataSource: {
        method: "GET",
        pattern: /^\/api\/datasources\/uid\/([^/]+)$/,
        handle: (entry, [, uid]) =>
          gated(entry, () => {
            const type = options.dataSources?.[part(uid)];
            if (type === undefined) return { status: 404, json: { message: "Data source not found" } };
            return { status: 200, json: { id: 1, uid: part(uid), name: "Cloud", type } };
          }),
      },
      list: {
        method: "GET",
        pattern: RULES,
        handle: (entry) => gated(entry, () => ({ status: 200, json: [...rules.values()] })),
      },
      read: {
        method: "GET",
        pattern: RULE,
        handle: (entry, [, uid]) =>
          gated(entry, () => {
            const rule = rules.get(part(uid));
            return rule === undefined ? { status: 404, text: "null" } : { status: 200, json: rule };
          }),
      },
      create: { method: "POST", pattern: RULES, handle: (entry, _match, work) => create(entry, work) },
      replace: {
        method: "PUT",
        pattern: RULE,
        handle: (entry, [, uid], work) => replace(entry, part(uid), work),
      },
      group: {
        method: "GET",
        pattern: GROUP,
        handle: (entry, [, folder, name]) => gated(entry, () => group(part(folder), part(name))),
      },
      deleteRule: {
        method: "DELETE",
        pattern: RULE,
        handle: (entry, [, uid]) =>
          gated(entry, () => {
            rules.delete(part(uid));
            return { status: 204 };
          }),
      },
      replaceGroup: {
        method: "PUT",
        pattern: GROUP,
        handle: async () => plain(500, "no test wants this call"),
      },
      deleteGroup: {
        method: "DELETE",
        pattern: GROUP,
        handle: async () => plain(500, "no test wants this call"),
      },
      points: {
        method: "GET",
        pattern: POINTS,
        handle: (entry) => gated(entry, () => ({ status: 200, json: points.map(shownPoint) })),
      },
      createPoint: {
        method: "POST",
        pattern: POINTS,
        handle: (entry, _match, work) => createPoint(entry, work),
      },
      replacePoint: {
        method: "PUT",
        pattern: POINT,
        handle: (entry, [, uid], work) => replacePoint(entry, part(uid), work),
      },
      deletePoint: {
        method: "DELETE",
        pattern: POINT,
        handle: async () => plain(500, "no test wants this call"),
      },
      policies: {
        method: "GET",
        pattern: POLICIES,
        handle: (entry) => gated(entry, () => ({ status: 200, json: platform.policies })),
      },
      replacePolicies: {
        method: "PUT",
        pattern: POLICIES,
        handle: async () => plain(500, "no test wants this call"),
      },
    },
    { ...options, notFound: () => ({ status: 404, json: { message: "Not found" } }) },
  );

  const platform: Monitoring = Object.assign(standIn, {
    rules,
    intervals,
    points,
    policies: structuredClone(DEFAULT_POLICIES) as Json,
    writes: () => standIn.ledger.filter(({ method }) => method !== "GET"),
    seed(rule: Json, provenance = "") {
      rules.set(rule.uid as string, storedRule(rule, ++ids, provenance));
      const key = groupKey(rule.folderUID, rule.ruleGroup);
      if (!intervals.has(key)) intervals.set(key, DEFAULT_INTERVAL_SECONDS);
    },
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

function part(encoded: string | undefined): string {
  return decodeURIComponent(encoded ?? "");
}

function plain(status: number, message: string): Answer {
  return { status, json: { message, traceID: "" } };
}

function structured(statusCode: number, messageId: string, message: string): Answer {
  return { status: statusCode, json: { statusCode, messageId, message, traceID: "a1b2" } };
}
