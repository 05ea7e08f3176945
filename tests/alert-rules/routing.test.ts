import { describe, expect, test } from "bun:test";
import { ruleReach } from "../../lib/alert-rules/routing.ts";
import type { ListedRule } from "../../lib/providers/grafana/client.ts";
import { type ContactPoint, parsePolicies } from "../../lib/providers/grafana/notifications.ts";

const email = { uid: "e", type: "email", resolvedOff: false };
const usual: ContactPoint = {
  ...email,
  name: "grafana-default-email",
  settings: { addresses: "<example@email.com>" },
};
const changed = { ...usual, settings: { addresses: "sre@example.org" } };
const people: ContactPoint = { ...email, name: "people", settings: { addresses: "sre@example.org" } };
const webhook: ContactPoint = { uid: "w", name: "hook", type: "webhook", resolvedOff: false, settings: {} };

/** The reach of a rule, with the policies of a Grafana in which none was chosen. */
function reach(
  rule: Partial<ListedRule>,
  points: ContactPoint[],
  policies: object = { receiver: usual.name },
) {
  const labels = { severity: "critical", ruleGroup: "vps-infra" };
  const place = { uid: "u", folderUID: "f", ruleGroup: "g", stored: {} };
  const whole = { ...place, title: "Disco Raiz Baixo", labels, receiver: null, ...rule };
  return ruleReach(whole, { points, policies: parsePolicies(policies)!, folderPath: "VPS" });
}

const when = (receiver: string, ...object_matchers: string[][]) => ({ receiver, object_matchers });

describe("ruleReach() by the notification policies", () => {
  const points = ["root", "a", "b"].map((name) => ({ ...webhook, name }));
  const CRITICAL = ["severity", "=", "critical"];

  test.each<[string, object[], string[]]>([
    ["the root without policies", [], ["root"]],
    ["the root when nothing matches", [when("a", ["severity", "=", "info"])], ["root"]],
    ["the first that matches", [when("a", CRITICAL), when("b")], ["a"]],
    ["all when they go on", [{ ...when("a"), continue: true }, when("b")], ["a", "b"]],
    ["the deepest", [{ ...when("a"), routes: [when("b", ["alertname", "=~", "Disco.*"])] }], ["b"]],
    [
      "the parent of those that do not match",
      [{ ...when("a"), routes: [when("b", ["x", "=", "y"])] }],
      ["a"],
    ],
    ["the parent's receiver where it has none", [{ object_matchers: [["severity", "!=", ""]] }], ["root"]],
    ["none where a matcher of several fails", [when("a", CRITICAL, ["x", "!=", ""])], ["root"]],
    ["a label that is missing as empty", [when("a", ["via", "!=", "other"])], ["a"]],
    ["a label that is missing as empty, by =~", [when("a", ["via", "=~", "(other)?"])], ["a"]],
    [
      "the whole value only",
      [when("a", ["ruleGroup", "=~", "vps"]), when("b", ["ruleGroup", "=~", "vps-.*"])],
      ["b"],
    ],
    ["!~", [when("a", ["ruleGroup", "!~", "vps-.*"]), when("b", ["ruleGroup", "!~", "vps"])], ["b"]],
    ["the folder's path", [when("a", ["grafana_folder", "=", "VPS"])], ["a"]],
    [
      "the written form",
      [
        { receiver: "a", matchers: ['severity="info"'] },
        { receiver: "b", matchers: ['severity =~ "crit.*"'] },
      ],
      ["b"],
    ],
  ])("finds %s", (_what, routes, receivers) => {
    expect(reach({}, points, { receiver: "root", routes })).toEqual({ status: "reached", receivers });
  });

  test.each([
    ["a regular expression of another dialect", when("a", ["severity", "=~", "(?i)critical"])],
    ["an operator that is not known", when("a", ["severity", "~~", "x"])],
    ["a matcher that cannot be read", { receiver: "a", matchers: ["nonsense"] }],
    ["a form that Grafana does not write any more", { receiver: "a", match: { severity: "info" } }],
  ])("does not judge %s", (_what, route) => {
    expect(reach({}, points, { receiver: "root", routes: [route] })).toEqual({ status: "unknown" });
    const first = { receiver: "root", routes: [when("b"), route] };
    expect(reach({}, points, first)).toEqual({ status: "reached", receivers: ["b"] });
  });
});

describe("ruleReach()", () => {
  test.each<[string, Partial<ListedRule>, ContactPoint[], string]>([
    ["a new Grafana", {}, [usual], "default_email"],
    ["a webhook that nothing names", {}, [usual, webhook], "default_email"],
    ["the default that only the policies name", {}, [changed], "default_email"],
    ["the default that the rule names", { receiver: usual.name }, [changed], "reached"],
    ["the default without an address", { receiver: usual.name }, [usual], "default_email"],
    ["the rule's own receiver", { receiver: "hook" }, [usual, webhook], "reached"],
    ["the rule's own receiver, people", { receiver: "people" }, [people], "reached"],
    ["a receiver that is not there", { receiver: "gone" }, [usual, webhook], "no_one"],
    ["no integration", {}, [], "no_one"],
  ])("of %s", (_what, rule, points, status) => {
    expect(reach(rule, points).status).toBe(status as "no_one");
  });
});
