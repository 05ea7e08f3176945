import { describe, expect, test } from "bun:test";
import { renderPlan } from "../../lib/alert-rules/render.ts";
import type { Receivers } from "../../lib/alert-rules/rule-document.ts";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { documents, type LooseRule, loose } from "./support/documents.ts";
import { apply, openPlatform, plan, pointOf, tally } from "./support/platform.ts";

const RULES = documents(true).length;
const BOTH: Receivers = { main: "opsctl-webhook", fallback: "plantão" };
const MAIN: Receivers = { main: "opsctl-webhook", fallback: null };
const ON_THE_WEBHOOK = alertRules({ withExtras: true }).filter(({ watchesWebhook }) => watchesWebhook);

async function openWithPoints(options = {}) {
  const open = await openPlatform(options);
  open.platform.points.push(pointOf("opsctl-webhook"), pointOf("plantão", { type: "email" }));
  return open;
}

/** The receiver of each rule that Grafana keeps. */
function receiversOf(rules: ReadonlyMap<string, LooseRule>): Record<string, string | undefined> {
  return Object.fromEntries([...rules].map(([uid, rule]) => [uid, rule.notification_settings?.receiver]));
}

describe.each([false, true])("applyRules() with receivers, on an old platform: %p", (isOld) => {
  test("sends each rule to its own, and the second time writes nothing", async () => {
    await using open = await openWithPoints({ isOld });
    const { platform, client } = open;

    expect(tally(await apply(client, true, BOTH))).toEqual({ created: RULES });

    const expected = alertRules({ withExtras: true }).map(({ uid, watchesWebhook }) => [
      uid,
      watchesWebhook ? "plantão" : "opsctl-webhook",
    ]);
    expect(receiversOf(platform.rules)).toEqual(Object.fromEntries(expected));
    expect(tally(await apply(client, true, BOTH))).toEqual({ unchanged: RULES });
    expect(platform.writes()).toHaveLength(RULES);
  });

  test("changes the receiver alone, and keeps what a person set beside it", async () => {
    await using open = await openWithPoints({ isOld });
    const { platform, client } = open;
    const beside = {
      group_by: ["alertname", "instance"],
      repeat_interval: "1h",
      mute_time_intervals: ["noite"],
    };
    const byHand = { receiver: "plantão", ...beside };
    for (const document of documents())
      platform.seed({ ...loose(document), notification_settings: byHand }, "api");

    const planned = await plan(client, false, MAIN);
    expect(planned.map(({ changes }) => changes)).toEqual(
      Array(7).fill([{ path: "notification_settings.receiver", from: "plantão", to: "opsctl-webhook" }]),
    );
    expect(tally(await apply(client, false, MAIN))).toEqual({ updated: 7 });
    for (const rule of platform.rules.values())
      expect(rule.notification_settings).toEqual({ ...beside, receiver: "opsctl-webhook" });
  });

  test("without one neither compares nor removes what a person set, also while it corrects the rest", async () => {
    await using open = await openWithPoints({ isOld });
    const { platform, client } = open;
    const byHand = { receiver: "plantão", group_wait: "1m" };
    for (const document of documents())
      platform.seed({ ...loose(document), notification_settings: byHand }, "api");
    (platform.rules.get("opsctl-vps-load") as LooseRule).for = "7m";

    expect(tally(await apply(client))).toEqual({ unchanged: 6, updated: 1 });

    expect(platform.rules.get("opsctl-vps-load")).toMatchObject({ for: "5m", notification_settings: byHand });
    expect(tally(await apply(client, false, { main: null, fallback: "plantão" }))).toEqual({ unchanged: 7 });
  });

  test("leaves the rules on the webhook alone without a fallback", async () => {
    await using open = await openWithPoints({ isOld });
    const { platform, client } = open;
    await apply(client, true, BOTH);
    expect(tally(await apply(client, true, MAIN))).toEqual({ unchanged: RULES });
    platform.rules.clear();
    await apply(client, true, MAIN);
    const unset = Object.entries(receiversOf(platform.rules)).filter(([, name]) => name === undefined);
    expect(unset.map(([uid]) => uid)).toEqual(ON_THE_WEBHOOK.map(({ uid }) => uid));
  });
});

describe("planRules() with receivers", () => {
  test.each([
    ["main", { main: "ausente", fallback: null }],
    ["fallback", { main: "opsctl-webhook", fallback: "ausente" }],
  ] as const)(
    "ends on a %s that Grafana does not have, before anything is written",
    async (_which, receivers) => {
      await using open = await openWithPoints();
      const error = await apply(open.client, true, receivers).catch((reason) => reason);
      expect(error).toBeInstanceOf(OpsError);
      expect(error.code).toBe("MONITORING_RECEIVER_NOT_FOUND");
      expect(error.message).toContain('"ausente"');
      expect(error.hint).toContain("contact-point apply");
      expect(open.platform.writes()).toEqual([]);
    },
  );

  test("leaves it to Grafana when the token may not look; the write then tells", async () => {
    await using open = await openWithPoints();
    open.platform.routes.points.script = () => ({ status: 403, json: { message: "Access denied" } });
    expect(tally(await apply(open.client, false, MAIN))).toEqual({ created: 7 });
    const absent = await apply(open.client, false, { main: "ausente", fallback: null });
    expect(new Set(absent.map(({ code }) => code))).toEqual(new Set(["monitoring_http_400"]));
    expect(absent[0]!.message).toBe("invalid alert rule: receiver ausente does not exist");
  });

  test("does not ask for contact points where no receiver is named", async () => {
    await using open = await openWithPoints();
    await plan(open.client, true);
    expect(open.platform.routes.points.calls).toEqual([]);
  });

  test("says so when Grafana is too old to keep a receiver", async () => {
    await using open = await openWithPoints();
    const { platform, client } = open;
    const without = (path: string) => {
      const rule = platform.rules.get(path.split("/").at(-1)!);
      return rule && { status: 200, json: { ...rule, notification_settings: undefined } };
    };
    platform.routes.create.script = () => ({ accept: { status: 201, json: {} } });
    await plan(client, false, MAIN);
    const planned = await plan(client, false, MAIN);
    platform.routes.read.script = ({ path }) => without(path);
    const { applyRules } = await import("../../lib/alert-rules/apply.ts");
    const [first] = await applyRules(client, planned);
    expect(first).toMatchObject({
      code: "rule_stored_differently",
      message: "Grafana stored something else: notification_settings.receiver",
    });
  });

  test("shows the receiver to people", async () => {
    await using open = await openWithPoints();
    await apply(open.client);
    const text = renderPlan(await plan(open.client, false, MAIN), []);
    expect(text).toContain('  notification_settings.receiver: (none) -> "opsctl-webhook"\n');
  });
});
