import type { ListedRule } from "../../providers/grafana/client.ts";
import type { ContactPoint } from "../../providers/grafana/contact-point.ts";
import type { Policy } from "../../providers/grafana/policy.ts";
import { policyReceivers } from "./policy-receivers.ts";

/**
 * Whom a rule reaches.
 *
 * Shape: `reached` has the names of contact points that have an integration; `default_email`: only the platform's
 *        sample address; `no_one`: no contact point with an integration; `unknown`: it cannot be judged.
 */
export type RuleReach =
  | { status: "reached"; receivers: string[] }
  | { status: "default_email" | "no_one" | "unknown" };

/** What decides whom a rule reaches. */
export type Routing = { points: readonly ContactPoint[]; policies: Policy; folderPath: string };

/** The contact point that every platform has from the start. */
const DEFAULT_POINT = "grafana-default-email";
/** The address in it until a person changes it. */
const DEFAULT_ADDRESS = /<?example@email\.com>?/i;

/**
 * Finds whom a rule of the platform reaches: its own receiver, else those of the notification policies.
 *
 * Behaviour: the default contact point counts when a rule names it itself and its address was changed; reached by
 *            the policies alone it was never chosen.
 * Source:    grafana/grafana pkg/services/ngalert/models/notifications.go, conf/defaults.ini, read 2026-11-22.
 */
export function ruleReach(rule: ListedRule, { points, policies, folderPath }: Routing): RuleReach {
  const labels = { ...rule.labels, alertname: rule.title, grafana_folder: folderPath };
  const names = rule.receiver === null ? policyReceivers(policies, labels) : [rule.receiver];
  if (names === null) return { status: "unknown" };
  const filled = names.filter((name) => points.some((point) => point.name === name && point.type !== ""));
  const told = filled.filter((name) => !isDefault(name, points, rule.receiver !== null));
  if (told.length > 0) return { status: "reached", receivers: told };
  return { status: filled.length > 0 ? "default_email" : "no_one" };
}

function isDefault(name: string, points: readonly ContactPoint[], isChosen: boolean): boolean {
  if (name === DEFAULT_POINT && !isChosen) return true;
  const integrations = points.filter((point) => point.name === name);
  return integrations.every(({ settings }) => DEFAULT_ADDRESS.test(String(settings.addresses ?? "")));
}
