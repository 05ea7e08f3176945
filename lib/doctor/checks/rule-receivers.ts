import { forbiddenSettings } from "../../alert-rules/contact-point.ts";
import { type Routing, type RuleReach, ruleReach } from "../../alert-rules/routing.ts";
import { alertRules } from "../../alert-rules/rules/all.ts";
import type { ListedRule } from "../../providers/grafana/client.ts";
import type { ContactPoint } from "../../providers/grafana/notifications.ts";
import { singleLine } from "../../text/single-line.ts";
import { type CheckResult, command, fail, notChecked, pass, warn } from "../finding.ts";

const OURS = new Map(alertRules({ withExtras: true }).map((rule) => [rule.uid, rule]));
const BASIC = alertRules({ withExtras: false });
const SHOWN_TITLES = 3;

const APPLY = "opsctl alert-rules apply --with-extras";
const POINT = command("opsctl alert-rules contact-point apply --url https://<alert host>/webhook");
/** The rules on the webhook itself need another contact point than the webhook's. */
const WATCHER_FIX = command(
  `${APPLY} --fallback-receiver <that contact point>`,
  "In Grafana, create a contact point with an address that is read, then:",
);

type Judged = { rule: ListedRule; reach: RuleReach };

/**
 * Whether opsctl's rules are in Grafana, and who receives them.
 *
 * Behaviour: where the settings name the contact point, the advice does not ask for its name.
 */
export function receiverResults(
  listed: readonly ListedRule[],
  routing: Routing,
  { isReceiverSet }: { isReceiverSet: boolean },
): CheckResult[] {
  const apply = isReceiverSet ? APPLY : `${APPLY} --receiver <contact point>`;
  const judged = judgedRules(listed, routing);
  if (judged.length === 0)
    return [fail("RULES_MISSING", "none of opsctl's rules is in Grafana, so nothing alerts", command(apply))];
  const missing = BASIC.filter(({ uid }) => !judged.some(({ rule }) => rule.uid === uid));
  const [unheard, byDefault] = [rulesOf(judged, "no_one"), rulesOf(judged, "default_email")];
  const [unknown, silent] = [rulesOf(judged, "unknown"), sharedWatchers(judged)];
  const fixOf = (rules: ListedRule[]) =>
    rules.every(watches) ? WATCHER_FIX : command(`${POINT.command} && ${apply}`);
  const results = [
    ...verdictOn(missing, (names) => warn("RULES_MISSING", `not in Grafana: ${names}`, command(apply))),
    ...verdictOn(unheard, (names) =>
      fail("RULES_WITHOUT_RECEIVER", `nobody receives ${names}`, fixOf(unheard)),
    ),
    ...verdictOn(byDefault, (names) =>
      fail("RULES_DEFAULT_EMAIL_ONLY", `only Grafana's default e-mail receives ${names}`, fixOf(byDefault)),
    ),
    ...verdictOn(unknown, (names) =>
      notChecked(
        "POLICY_UNKNOWN",
        `a notification policy that cannot be evaluated here decides about ${names}`,
      ),
    ),
    ...verdictOn(silent, (names) =>
      warn(
        "RULES_SHARE_RECEIVER",
        `only the receiver of all other rules gets those about the webhook itself: ${names}`,
        command(`${apply} --fallback-receiver <another contact point>`),
      ),
    ),
  ];
  return results.some(({ status }) => status === "fail") ? results : [...results, ...reachedResults(judged)];
}

/**
 * The names of the webhook contact points that receive opsctl's rules, but for those about the webhook itself.
 *
 * Behaviour: where only the notification policies decide, a webhook counts when it posts to the service's path; others
 *            are somebody else's.
 */
export function webhooksOf(listed: readonly ListedRule[], routing: Routing): string[] {
  const judged = judgedRules(listed, routing).filter(({ rule }) => !watches(rule));
  const names = judged.flatMap(({ rule, reach }) =>
    receivers(reach).filter((name) =>
      webhooks(name, routing.points).some((point) => rule.receiver !== null || isOurs(point)),
    ),
  );
  return [...new Set(names)].sort();
}

/** Whether the webhook's own contact point, of this name, loses or changes what it has to deliver. */
export function contactPointResults(name: string, points: readonly ContactPoint[]): CheckResult[] {
  const all = webhooks(name, points);
  const shown = singleLine(name);
  if (all.length === 0)
    return [fail("MONITORING_RECEIVER_NOT_FOUND", `Grafana has no webhook named ${shown}`, POINT)];
  const ours = all.filter(isOurs);
  return (ours.length > 0 ? ours : all).map((point) => {
    const isOpen = (point.settings.authorization_credentials ?? "") === "";
    const wrong = [
      ...forbiddenSettings(point).map(({ path }) => path),
      ...(isOpen ? ["settings.authorization_credentials"] : []),
    ];
    if (wrong.length === 0) return pass(`contact point ${shown} posts everything, with a secret`);
    const paths = wrong.map(singleLine).join(", ");
    return fail("CONTACT_POINT_DIFFERS", `contact point ${shown} differs: ${paths}`, POINT);
  });
}

function judgedRules(listed: readonly ListedRule[], routing: Routing): Judged[] {
  const present = listed.filter(({ uid }) => OURS.has(uid));
  return present.map((rule) => ({ rule, reach: ruleReach(rule, routing) }));
}

/** The rules on the webhook that only the receivers of the other rules get: they are silent when it matters. */
function sharedWatchers(judged: readonly Judged[]): ListedRule[] {
  const usual = new Set(judged.filter(({ rule }) => !watches(rule)).flatMap(({ reach }) => receivers(reach)));
  return judged
    .filter(({ rule, reach }) => watches(rule) && reach.status === "reached")
    .filter(({ reach }) => receivers(reach).every((name) => usual.has(name)))
    .map(({ rule }) => rule);
}

function reachedResults(judged: readonly Judged[]): CheckResult[] {
  const count = rulesOf(judged, "reached").length;
  if (count === 0) return [];
  const names = [...new Set(judged.flatMap(({ reach }) => receivers(reach)))]
    .sort()
    .map(singleLine)
    .join(", ");
  return [pass(`${count} ${count === 1 ? "rule reaches" : "rules reach"} ${names}`)];
}

function watches({ uid }: ListedRule): boolean {
  return OURS.get(uid)?.watchesWebhook === true;
}

function receivers(reach: RuleReach): string[] {
  return reach.status === "reached" ? reach.receivers : [];
}

function rulesOf(judged: readonly Judged[], status: RuleReach["status"]): ListedRule[] {
  return judged.filter(({ reach }) => reach.status === status).map(({ rule }) => rule);
}

function webhooks(name: string, points: readonly ContactPoint[]): ContactPoint[] {
  return points.filter((point) => point.name === name && point.type === "webhook");
}

/** Whether a webhook posts to the path at which the service accepts alerts. */
function isOurs({ settings }: ContactPoint): boolean {
  return /\/webhook\/?(\?|$)/.test(String(settings.url ?? ""));
}

/** The result on some rules, by the first titles and the number of the others; none without a rule. */
function verdictOn(
  rules: readonly { title: string }[],
  result: (names: string) => CheckResult,
): CheckResult[] {
  if (rules.length === 0) return [];
  const shown = rules.slice(0, SHOWN_TITLES).map(({ title }) => singleLine(title));
  const more = rules.length - shown.length;
  return [result(`${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`)];
}
