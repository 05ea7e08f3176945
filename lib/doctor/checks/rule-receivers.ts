import { disturbances } from "../../alert-rules/contact-point/changes.ts";
import { type Routing, type RuleReach, ruleReach } from "../../alert-rules/routing/rule-reach.ts";
import { alertRules } from "../../alert-rules/rules/all.ts";
import type { Fix } from "../../platform/errors.ts";
import type { ListedRule } from "../../providers/grafana/client.ts";
import type { ContactPoint } from "../../providers/grafana/contact-point.ts";
import { singleLine } from "../../text/single-line.ts";
import { command, fail, notChecked, pass, type Verdict, warn } from "../finding.ts";

const OURS = new Map(alertRules({ withExtras: true }).map((rule) => [rule.uid, rule]));
const BASIC = alertRules({ withExtras: false });
const SHOWN_TITLES = 3;

const APPLY = "opsctl alert-rules apply --with-extras";
const POINT_LINE = "opsctl alert-rules contact-point apply --url https://<alert host>/webhook";
const POINT = command(POINT_LINE);
/** For the rules on the webhook itself another contact point than the webhook's is missing. */
const WATCHER_FIX = command(
  `${APPLY} --fallback-receiver <that contact point>`,
  "On the platform, make a contact point with an address that is read, then:",
);

type Judged = { rule: ListedRule; reach: RuleReach };

/**
 * Whether the rules of opsctl are on the platform, and whom they reach.
 *
 * Behaviour: where the settings name the contact point, the advice does not ask for its name.
 */
export function receiverVerdicts(
  listed: readonly ListedRule[],
  routing: Routing,
  { isReceiverSet }: { isReceiverSet: boolean },
): Verdict[] {
  const apply = isReceiverSet ? APPLY : `${APPLY} --receiver <contact point>`;
  const present = listed.filter(({ uid }) => OURS.has(uid));
  if (present.length === 0)
    return [
      fail("RULES_MISSING", "none of opsctl's rules is on the platform, so nothing alerts", command(apply)),
    ];
  const judged = present.map((rule) => ({ rule, reach: ruleReach(rule, routing) }));
  const verdicts = [
    ...missingVerdicts(present, apply),
    ...unheardVerdicts(judged, apply),
    ...unjudgedVerdicts(judged),
    ...watcherVerdicts(judged, apply),
  ];
  return verdicts.some(({ status }) => status === "fail")
    ? verdicts
    : [...verdicts, ...heardVerdicts(judged)];
}

function missingVerdicts(present: readonly ListedRule[], apply: string): Verdict[] {
  const missing = BASIC.filter((rule) => !present.some(({ uid }) => uid === rule.uid));
  return missing.length === 0
    ? []
    : [warn("RULES_MISSING", `not on the platform: ${named(missing)}`, command(apply))];
}

function unheardVerdicts(judged: readonly Judged[], apply: string): Verdict[] {
  const of = (status: RuleReach["status"]) => rulesOf(judged, status);
  const [unheard, byDefault] = [of("no_one"), of("default_email")];
  return [
    ...(unheard.length === 0
      ? []
      : [fail("RULES_WITHOUT_RECEIVER", `nobody is told by ${named(unheard)}`, fixOf(unheard, apply))]),
    ...(byDefault.length === 0
      ? []
      : [
          fail(
            "RULES_DEFAULT_EMAIL_ONLY",
            `only the platform's default e-mail is told by ${named(byDefault)}`,
            fixOf(byDefault, apply),
          ),
        ]),
  ];
}

function fixOf(rules: readonly ListedRule[], apply: string): Fix {
  return rules.every(watches) ? WATCHER_FIX : command(`${POINT_LINE} && ${apply}`);
}

function unjudgedVerdicts(judged: readonly Judged[]): Verdict[] {
  const unknown = rulesOf(judged, "unknown");
  if (unknown.length === 0) return [];
  return [
    notChecked(
      "POLICY_UNKNOWN",
      `a notification policy that cannot be judged here decides about ${named(unknown)}`,
    ),
  ];
}

/** A rule on the webhook that only the webhook tells is silent when it matters. */
function watcherVerdicts(judged: readonly Judged[], apply: string): Verdict[] {
  const usual = new Set(judged.filter(({ rule }) => !watches(rule)).flatMap(receivers));
  const silent = judged.filter(
    (one) =>
      watches(one.rule) && one.reach.status === "reached" && receivers(one).every((name) => usual.has(name)),
  );
  if (silent.length === 0) return [];
  return [
    warn(
      "RULES_SHARE_RECEIVER",
      `told only where all others are, although about the webhook itself: ${named(silent.map(({ rule }) => rule))}`,
      command(`${apply} --fallback-receiver <another contact point>`),
    ),
  ];
}

function heardVerdicts(judged: readonly Judged[]): Verdict[] {
  const heard = judged.filter(({ reach }) => reach.status === "reached");
  if (heard.length === 0) return [];
  const names = [...new Set(heard.flatMap(receivers))].sort().map(singleLine).join(", ");
  return [pass(`${heard.length} ${heard.length === 1 ? "rule reaches" : "rules reach"} ${names}`)];
}

/** The webhooks that opsctl's rules name themselves, but for those about the webhook itself, which have another one. */
export function namedWebhooks(listed: readonly ListedRule[], points: readonly ContactPoint[]): string[] {
  const rules = listed.filter((rule) => OURS.has(rule.uid) && !watches(rule));
  const isWebhook = (name: string) => points.some((point) => point.name === name && point.type === "webhook");
  const names = rules.map(({ receiver }) => receiver).filter((name) => name !== null);
  return [...new Set(names)].filter(isWebhook).sort();
}

/** Whether the webhook's own contact point, of this name, loses or changes what it is to deliver. */
export function contactPointVerdicts(name: string, points: readonly ContactPoint[]): Verdict[] {
  const webhooks = points.filter((point) => point.name === name && point.type === "webhook");
  const shown = singleLine(name);
  if (webhooks.length === 0)
    return [fail("MONITORING_RECEIVER_NOT_FOUND", `the platform has no webhook named ${shown}`, POINT)];
  return webhooks.flatMap((point) => {
    const isOpen = (point.settings.authorization_credentials ?? "") === "";
    const wrong = [
      ...disturbances(point).map(({ path }) => path),
      ...(isOpen ? ["settings.authorization_credentials"] : []),
    ];
    return wrong.length === 0
      ? [pass(`contact point ${shown} posts everything, with a secret`)]
      : [
          fail(
            "CONTACT_POINT_DIFFERS",
            `contact point ${shown} differs: ${wrong.map(singleLine).join(", ")}`,
            POINT,
          ),
        ];
  });
}

function watches({ uid }: ListedRule): boolean {
  return OURS.get(uid)?.watchesWebhook === true;
}

function receivers({ reach }: Judged): string[] {
  return reach.status === "reached" ? reach.receivers : [];
}

function rulesOf(judged: readonly Judged[], status: RuleReach["status"]): ListedRule[] {
  return judged.filter(({ reach }) => reach.status === status).map(({ rule }) => rule);
}

/** The first titles, and how many more there are. */
function named(rules: readonly { title: string }[]): string {
  const shown = rules.slice(0, SHOWN_TITLES).map(({ title }) => singleLine(title));
  const more = rules.length - shown.length;
  return `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}
