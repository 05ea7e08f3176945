import { describe, expect, test } from "bun:test";
import { policyReceivers, ruleReach } from "../../lib/alert-rules/routing.ts";
import type { ListedRule } from "../../lib/providers/grafana/client.ts";
import type { ContactPoint } from "../../lib/providers/grafana/contact-point.ts";
import { type Policy, parsePolicies } from "../../lib/providers/grafana/policy.ts";

const LABELS = { severity: "critical", ruleGroup: "vps-infra", alertname: "Disco Raiz Baixo" };

/** A tree as Grafana's API shows it. */
function tree(json: object): Policy {
  return parsePolicies(json)!;
}

/** The receivers of an alert with `LABELS` below a root that tells `root`. */
function reached(...routes: object[]): string[] | null {
  return policyReceivers(tree({ receiver: "root", routes }), LABELS);
}

const when = (receiver: string, ...object_matchers: string[][]) => ({ receiver, object_matchers });

describe("policyReceivers()", () => {
  test.each<[string, object[], string[]]>([
    ["the root without policies", [], ["root"]],
    ["the root when nothing matches", [when("a", ["severity", "=", "info"])], ["root"]],
    ["the first that matches", [when("a", ["severity", "=", "critical"]), when("b")], ["a"]],
    ["all when they go on", [{ ...when("a"), continue: true }, when("b")], ["a", "b"]],
    ["the deepest", [{ ...when("a"), routes: [when("b", ["alertname", "=~", "Disco.*"])] }], ["b"]],
    [
      "the parent of those that do not match",
      [{ ...when("a"), routes: [when("b", ["x", "=", "y"])] }],
      ["a"],
    ],
    ["the parent's receiver where it has none", [{ object_matchers: [["severity", "!=", ""]] }], ["root"]],
    [
      "none where a matcher of several fails",
      [when("a", ["severity", "=", "critical"], ["x", "!=", ""])],
      ["root"],
    ],
    ["a label that is missing as empty", [when("a", ["via", "!=", "other"])], ["a"]],
    ["a label that is missing as empty, by =~", [when("a", ["via", "=~", "(other)?"])], ["a"]],
    [
      "the whole value only",
      [when("a", ["ruleGroup", "=~", "vps"]), when("b", ["ruleGroup", "=~", "vps-.*"])],
      ["b"],
    ],
    ["!~", [when("a", ["ruleGroup", "!~", "vps-.*"]), when("b", ["ruleGroup", "!~", "vps"])], ["b"]],
    [
      "the older forms",
      [
        { receiver: "a", match: { severity: "info" } },
        { receiver: "b", match_re: { severity: "crit.*" } },
      ],
      ["b"],
    ],
    [
      "the written form",
      [
        { receiver: "a", matchers: ['severity="info"'] },
        { receiver: "b", matchers: ['severity =~ "crit.*"'] },
      ],
      ["b"],
    ],
  ])("finds %s", (_what, routes, expected) => {
    expect(reached(...routes)).toEqual(expected);
  });

  test.each([
    ["a regular expression of another dialect", when("a", ["severity", "=~", "(?i)critical"])],
    ["an operator that is not known", when("a", ["severity", "~~", "x"])],
    ["a matcher that cannot be read", { receiver: "a", matchers: ["nonsense"] }],
  ])("does not judge %s", (_what, route) => {
    expect(reached(route)).toBeNull();
    expect(reached(when("first"), route)).toEqual(["first"]);
  });
});

describe("ruleReach()", () => {
  const email = { uid: "e", type: "email", resolvedOff: false };
  const usual: ContactPoint = {
    ...email,
    name: "grafana-default-email",
    settings: { addresses: "<example@email.com>" },
  };
  const webhook: ContactPoint = { uid: "w", name: "hook", type: "webhook", resolvedOff: false, settings: {} };
  const people: ContactPoint = { ...email, name: "people", settings: { addresses: "sre@example.org" } };
  const rule = { uid: "u", title: "T", folderUID: "f", ruleGroup: "g", labels: LABELS, receiver: null };

  /** The reach of a rule, with the policies of a platform on which none was chosen. */
  const reach = (
    change: Partial<ListedRule>,
    points: ContactPoint[],
    policies: object = { receiver: usual.name },
  ) => ruleReach({ ...rule, ...change }, { points, policies: tree(policies), folderPath: "VPS" });

  test("a new platform reaches its default e-mail, which a webhook beside it does not change", () => {
    expect(reach({}, [usual])).toEqual({ status: "default_email" });
    expect(reach({}, [usual, webhook])).toEqual({ status: "default_email" });
  });

  test("is the rule's own receiver, whatever the policies say", () => {
    expect(reach({ receiver: "hook" }, [usual, webhook])).toEqual({ status: "reached", receivers: ["hook"] });
    expect(reach({ receiver: "gone" }, [usual, webhook])).toEqual({ status: "no_one" });
  });

  test("is the policies' choice, by labels, title and folder", () => {
    const routes = [
      when("hook", ["grafana_folder", "=", "VPS"], ["alertname", "=", "T"], ["ruleGroup", "=", "vps-infra"]),
    ];
    expect(reach({}, [usual, webhook], { receiver: usual.name, routes })).toEqual({
      status: "reached",
      receivers: ["hook"],
    });
    expect(reach({ title: "U" }, [usual, webhook], { receiver: usual.name, routes }).status).toBe(
      "default_email",
    );
  });

  test("is nobody where the contact point has no integration", () => {
    expect(reach({}, [], { receiver: "empty" })).toEqual({ status: "no_one" });
  });

  test("counts the default e-mail only when its address was changed and the rule names it", () => {
    const changed = { ...usual, settings: { addresses: "sre@example.org" } };
    expect(reach({}, [changed]).status).toBe("default_email");
    expect(reach({ receiver: usual.name }, [changed]).status).toBe("reached");
    expect(reach({ receiver: usual.name }, [usual]).status).toBe("default_email");
    expect(reach({ receiver: "people" }, [people]).status).toBe("reached");
  });

  test("is unknown where a policy cannot be judged", () => {
    const routes = [when("hook", ["severity", "=~", "(?i)critical"])];
    expect(reach({}, [usual, webhook], { receiver: usual.name, routes })).toEqual({ status: "unknown" });
  });
});
