/** A stand-in of the metrics platform's alert-rule provisioning API, as strict as its contract. */
import { type Json, ruleProblem, storedRule } from "./grafana-rule.ts";
import { type Answer, type LedgerEntry, type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** Settings of the platform. */
export type MonitoringOptions = StandInOptions & {
  token: string;
  /** Uids of the folders that exist. */
  folders?: string[];
  /** Types of the data sources that exist, by uid. */
  dataSources?: Record<string, string>;
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
  | "deleteGroup";

/**
 * A running platform.
 *
 * Shape: `rules` is what it keeps, by uid; `intervals` the seconds of a group; `writes` every call that was not a
 *        reading one, whatever its answer.
 */
export type Monitoring = StandIn<RouteName> & {
  rules: Map<string, Json>;
  intervals: Map<string, number>;
  writes(): LedgerEntry[];
  /** Adds a rule that is not ours: made on the pages (`provenance` empty) or by a file (`file`). */
  seed(rule: Json, provenance?: string): void;
};

const DEFAULT_INTERVAL_SECONDS = 60;

/** Starts a platform. */
export async function startMonitoring(options: MonitoringOptions): Promise<Monitoring> {
  const rules = new Map<string, Json>();
  const intervals = new Map<string, number>();
  const folders = new Set(options.folders ?? []);
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
    const { folderUID } = entry.body as Json;
    return folders.has(folderUID as string) ? null : plain(400, `invalid alert rule: folder does not exist`);
  }

  function titleTaken({ uid, title, folderUID }: Json): boolean {
    if (!options.isOld) return false;
    return [...rules.values()].some(
      (rule) => rule.uid !== uid && rule.title === title && rule.folderUID === folderUID,
    );
  }

  function keep(entry: LedgerEntry): Json {
    const body = entry.body as Json;
    const provenance = entry.headers["x-disable-provenance"] === undefined ? "api" : "";
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
    const mode = entry.headers["x-disable-provenance"] === undefined ? "api" : "";
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
  const gated = (entry: LedgerEntry, answer: () => Answer) => Promise.resolve(gate(entry) ?? answer());
  const standIn = await startStandIn<RouteName>(
    {
      folder: {
        method: "GET",
        pattern: /^\/api\/folders\/([^/]+)$/,
        handle: (entry, [, uid]) =>
          gated(entry, () =>
            folders.has(part(uid))
              ? { status: 200, json: { id: 1, uid: part(uid), title: "VPS" } }
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
    },
    { ...options, notFound: () => ({ status: 404, json: { message: "Not found" } }) },
  );

  return Object.assign(standIn, {
    rules,
    intervals,
    writes: () => standIn.ledger.filter(({ method }) => method !== "GET"),
    seed(rule: Json, provenance = "") {
      rules.set(rule.uid as string, storedRule(rule, ++ids, provenance));
      const key = groupKey(rule.folderUID, rule.ruleGroup);
      if (!intervals.has(key)) intervals.set(key, DEFAULT_INTERVAL_SECONDS);
    },
  });
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
