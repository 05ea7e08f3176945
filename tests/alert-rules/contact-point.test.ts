import { describe, expect, test } from "bun:test";
import { applyPoint, pointUid, type WantedPoint } from "../../lib/alert-rules/contact-point.ts";
import { renderPoint } from "../../lib/alert-rules/render.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import type { GrafanaClient } from "../../lib/providers/grafana/client.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import type { Json } from "../standins/grafana-rule.ts";
import { failureOf, openPlatform, pointOf } from "./support/platform.ts";

const BEARER = "canary-bearer-4711";
const NAME = "opsctl-webhook";
const URL = "https://alerts.example.com/webhook";
const WANTED: WantedPoint = { name: NAME, url: URL, bearer: new Secret(BEARER) };
const SETTINGS = {
  ...{ url: URL, httpMethod: "POST", maxAlerts: 0 },
  ...{ authorization_scheme: "Bearer", authorization_credentials: BEARER },
};

const run = (client: GrafanaClient, isRotation = false, wanted = WANTED) =>
  applyPoint(client, wanted, { isRotation });

type Open = Awaited<ReturnType<typeof openPlatform>>;

/** What Grafana keeps under the name. */
const kept = ({ platform }: Open): Json[] => platform.points.filter(({ name }) => name === NAME);

/** Grafana with the contact point that opsctl made. */
async function openMade(options = {}): Promise<Open> {
  const open = await openPlatform(options);
  expect(await run(open.client)).toMatchObject({ result: "created" });
  return open;
}

describe("applyPoint()", () => {
  test("makes the contact point with one call, and the second time writes nothing and says what it could not see", async () => {
    await using open = await openPlatform();
    const others = [pointOf(NAME, { uid: "mail", type: "email" }), pointOf("other")];
    open.platform.points.push(...structuredClone(others));
    const made = await run(open.client);

    const point = { name: NAME, uid: pointUid(NAME), changes: [] };
    expect(made).toEqual({ ...point, result: "created", secret: "written" });
    expect(kept(open).at(-1)).toEqual({
      ...{ uid: pointUid(NAME), name: NAME, type: "webhook", disableResolveMessage: false },
      ...{ settings: SETTINGS, provenance: "api" },
    });

    const again = await run(open.client);
    expect(again).toEqual({ ...made, result: "unchanged", secret: "not_compared" });
    expect(renderPoint(again, NO_TERMINAL)).toContain(
      "so it was not compared; after a change of WEBHOOK_SECRET add --rotate",
    );
    expect(open.platform.writes().map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/provisioning/contact-points",
    ]);
    expect(open.platform.points.slice(1, 3)).toEqual(others);
  });

  test("takes over the one that a person made, and keeps what does not disturb", async () => {
    await using open = await openPlatform();
    const settings = {
      ...{ url: "http://old.example.com/\u001b[2J", httpMethod: "PUT", maxAlerts: "5", title: "T" },
      ...{ username: "u", password: "p", authorization_scheme: "Token", payload: { template: "x" } },
      headers: { "X-Webhook-Secret": "old", "X-Other": "1" },
      http_config: { oauth2: { client_id: "c", client_secret: "[REDACTED]", token_url: "https://id/token" } },
    };
    open.platform.points.push(pointOf(NAME, { settings, disableResolveMessage: true }));

    const applied = await run(open.client);

    expect(applied).toMatchObject({ uid: `made-${NAME}`, result: "updated", secret: "written" });
    expect(applied.changes.map(({ path }) => path)).toEqual([
      "settings.url",
      "settings.authorization_credentials",
      "disableResolveMessage",
      ...["httpMethod", "maxAlerts", "authorization_scheme"].map((key) => `settings.${key}`),
      ...["http_config", "headers", "payload", "password", "username"].map((key) => `settings.${key}`),
    ]);
    expect(kept(open)[0]).toMatchObject({ disableResolveMessage: false, provenance: "api" });
    expect(kept(open)[0]!.settings).toEqual({ ...SETTINGS, title: "T", headers: { "X-Other": "1" } });
    expect(JSON.stringify(applied)).not.toMatch(/canary|"old"|"p"/);
    const text = renderPoint(applied, NO_TERMINAL);
    expect(text).toStartWith(`updated    ${NAME} (made-${NAME})\n  settings.url: `);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect((await run(open.client)).result).toBe("unchanged");
  });

  test.each<[string, Json]>([
    ["settings.url", { url: "https://elsewhere.example.com/webhook" }],
    ["settings.maxAlerts", { maxAlerts: 10 }],
    ["settings.authorization_scheme", { authorization_scheme: "Basic" }],
    ["settings.authorization_credentials", { authorization_credentials: "" }],
  ])("writes once when %s differs", async (path, change) => {
    await using open = await openMade();
    Object.assign(open.platform.points.at(-1)!.settings, change);
    expect(await run(open.client)).toMatchObject({ result: "updated", changes: [{ path }] });
    expect(kept(open)[0]!.settings).toEqual(SETTINGS);
    expect(open.platform.writes()).toHaveLength(2);
  });

  test.each([{ maxAlerts: "0" }, { maxAlerts: undefined }, { httpMethod: "" }, { authorization_scheme: "" }])(
    "takes Grafana's own way of saying the same for the same: %p",
    async (change) => {
      await using open = await openMade();
      Object.assign(open.platform.points.at(-1)!.settings, change);
      expect((await run(open.client)).result).toBe("unchanged");
    },
  );

  test("writes a changed secret with a rotation alone", async () => {
    await using open = await openMade();
    const rotated = { ...WANTED, bearer: new Secret("canary-bearer-4712") };
    expect((await run(open.client, false, rotated)).result).toBe("unchanged");
    expect(kept(open)[0]!.settings).toEqual(SETTINGS);
    const changed = await run(open.client, true, rotated);
    expect(changed).toMatchObject({ result: "updated", changes: [], secret: "written" });
    expect(kept(open)[0]!.settings).toMatchObject({ authorization_credentials: "canary-bearer-4712" });
  });

  test("refuses to choose between several webhooks of the name when none is opsctl's", async () => {
    await using open = await openPlatform();
    open.platform.points.push(pointOf(NAME), pointOf(NAME, { uid: "second" }));
    const { code, message } = await failureOf(run(open.client));
    const reason = `Cannot set the contact point "${NAME}": 2 webhook integrations have this name`;
    expect([code, message]).toEqual(["CONTACT_POINT_AMBIGUOUS", reason]);
    expect(open.platform.writes()).toEqual([]);
    open.platform.points.push(pointOf(NAME, { uid: pointUid(NAME), settings: SETTINGS }));
    expect((await run(open.client)).result).toBe("unchanged");
  });

  test("believes Grafana's copy, not a lost answer", async () => {
    await using open = await openPlatform();
    open.platform.routes.createPoint.next({ accept: "drop" });
    expect((await run(open.client)).result).toBe("created");
    open.platform.points.at(-1)!.settings.url = "https://x.example.com/webhook";
    open.platform.routes.replacePoint.next({ accept: { status: 502, text: "<html>" } });
    expect((await run(open.client)).result).toBe("updated");
    open.platform.routes.replacePoint.next({ accept: "drop" });
    // Nothing visible tells whether the secret arrived.
    expect((await failureOf(run(open.client, true))).code).toBe("MONITORING_CONNECTION_LOST");
    expect(open.platform.writes()).toHaveLength(3);
  });

  test("runs twice at once: both succeed, and it is there once", async () => {
    await using open = await openPlatform({ latencyMs: 5 });
    const applied = await Promise.all([run(open.client), run(open.client)]);
    expect(applied.map(({ uid }) => uid)).toEqual(Array(2).fill(pointUid(NAME)));
    expect(kept(open)).toHaveLength(1);
  });

  test("reports what Grafana refuses or keeps otherwise, without the secret that it may quote", async () => {
    await using open = await openPlatform();
    const { createPoint } = open.platform.routes;
    createPoint.next({ status: 400, json: { message: `invalid: Bearer ${BEARER}` } });
    expect((await failureOf(run(open.client))).code).toBe("MONITORING_HTTP_400");
    createPoint.next({ status: 202, json: {} });
    const { code, message } = await failureOf(run(open.client));
    const reason = `Cannot set the contact point "${NAME}": Grafana stored something else: everything`;
    expect([code, message]).toEqual(["CONTACT_POINT_STORED_DIFFERENTLY", reason]);
    open.platform.points.push(pointOf(NAME, { provenance: "file" }));
    const provided = await failureOf(run(open.client));
    expect(provided.message).toContain("cannot change provenance from 'file' to 'api'");
  });

  test.each([
    [{ status: 401, json: { message: "Invalid API key" } }, "MONITORING_HTTP_401"],
    [{ status: 404, json: { message: "Not found" } }, "MONITORING_HTTP_404"],
    ["not_json", "MONITORING_ANSWER_UNREADABLE"],
    [{ status: 200, json: { no: "list" } }, "MONITORING_ANSWER_UNREADABLE"],
  ] as const)("ends on %p, before anything is written", async (scripted, code) => {
    await using open = await openPlatform();
    open.platform.routes.points.script = () => scripted;
    expect((await failureOf(run(open.client))).code).toBe(code);
    expect(open.platform.writes()).toEqual([]);
  });
});

test("pointUid() is one for each name, of Grafana's form", () => {
  const uids = ["a", "b", "Plantão · É", "x".repeat(190)].map(pointUid);
  expect(new Set(uids).size).toBe(4);
  for (const uid of uids) expect(uid).toMatch(/^[a-z0-9-]{1,40}$/);
});
