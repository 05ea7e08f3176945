import { describe, expect, test } from "bun:test";
import {
  type AppliedPoint,
  applyPoint,
  pointUid,
  type WantedPoint,
} from "../../lib/alert-rules/contact-point/contact-point.ts";
import { renderPoint } from "../../lib/alert-rules/render.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import type { GrafanaClient } from "../../lib/providers/grafana/client.ts";
import type { Json } from "../standins/grafana-rule.ts";
import { openPlatform, pointOf } from "./support/platform.ts";

const BEARER = "canary-bearer-4711";
const NAME = "opsctl-webhook";
const URL = "https://alerts.example.com/webhook";
const WANTED: WantedPoint = { name: NAME, url: URL, bearer: new Secret(BEARER) };
const SETTINGS = {
  url: URL,
  httpMethod: "POST",
  maxAlerts: 0,
  authorization_scheme: "Bearer",
  authorization_credentials: BEARER,
};

const run = (client: GrafanaClient, isRotation = false, wanted = WANTED) =>
  applyPoint(client, wanted, { isRotation });

/** What Grafana keeps under the name. */
function kept(open: Awaited<ReturnType<typeof openPlatform>>): Json[] {
  return open.platform.points.filter(({ name }) => name === NAME).map(({ ...point }) => point);
}

/** The failure of an apply, which tells no secret. */
async function failureOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  );
  expect(error).not.toBeNull();
  expect(`${error.message} ${error.hint}`).not.toContain(BEARER);
  return error as { code: string; message: string; hint: string };
}

describe("applyPoint()", () => {
  test("makes the contact point with one call, and the second time writes nothing and says what it could not see", async () => {
    await using open = await openPlatform();
    const made = await run(open.client);

    expect(made).toEqual({
      name: NAME,
      uid: pointUid(NAME),
      result: "created",
      changes: [],
      secret: "written",
    });
    expect(kept(open)).toEqual([
      {
        ...{ uid: pointUid(NAME), name: NAME, type: "webhook", disableResolveMessage: false },
        ...{ settings: SETTINGS, provenance: "api" },
      },
    ]);

    const again = await run(open.client);
    expect(again).toEqual({ ...made, result: "unchanged", secret: "not_compared" });
    expect(open.platform.writes().map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/provisioning/contact-points",
    ]);
  });

  test("takes over the one that a person made, and keeps what does not disturb", async () => {
    await using open = await openPlatform();
    const settings = {
      ...{ url: "http://old.example.com/hook", httpMethod: "PUT", maxAlerts: "5", title: "T" },
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
    expect((await run(open.client)).result).toBe("unchanged");
  });

  const drifts: [string, Json, string][] = [
    ["another address", { url: "https://elsewhere.example.com/webhook" }, "settings.url"],
    ["a limit of alerts", { maxAlerts: 10 }, "settings.maxAlerts"],
    ["another scheme", { authorization_scheme: "Basic" }, "settings.authorization_scheme"],
    ["no credentials", { authorization_credentials: "" }, "settings.authorization_credentials"],
  ];
  test.each(drifts)("writes once on %s", async (_what, change, path) => {
    await using open = await openPlatform();
    await run(open.client);
    const point = open.platform.points.find(({ name }) => name === NAME)!;
    Object.assign(point.settings, change);
    const applied = await run(open.client);
    expect(applied).toMatchObject({ result: "updated", changes: [{ path }] });
    expect(point && kept(open)[0]!.settings).toEqual(SETTINGS);
    expect(open.platform.writes()).toHaveLength(2);
  });

  test.each([{ maxAlerts: "0" }, { maxAlerts: undefined }, { httpMethod: "" }, { authorization_scheme: "" }])(
    "takes Grafana's own way of saying the same for the same: %p",
    async (change) => {
      await using open = await openPlatform();
      await run(open.client);
      Object.assign(open.platform.points.at(-1)!.settings, change);
      expect((await run(open.client)).result).toBe("unchanged");
    },
  );

  test("compares a secret that Grafana shows", async () => {
    await using open = await openPlatform();
    await run(open.client);
    const shown = (credentials: string) => () => ({
      status: 200,
      json: [{ ...kept(open)[0], settings: { ...SETTINGS, authorization_credentials: credentials } }],
    });
    open.platform.routes.points.script = shown(BEARER);
    expect((await run(open.client)).secret).toBe("equal");
    open.platform.routes.points.next(shown("another")());
    const applied = await run(open.client);
    expect(applied).toMatchObject({ result: "updated", secret: "written" });
    expect(JSON.stringify(applied)).not.toContain('another"');
  });

  test("writes a changed secret with a rotation alone", async () => {
    await using open = await openPlatform();
    await run(open.client);
    const rotated = { ...WANTED, bearer: new Secret("canary-bearer-4712") };
    expect((await run(open.client, false, rotated)).result).toBe("unchanged");
    expect(kept(open)[0]!.settings).toEqual(SETTINGS);

    expect(await run(open.client, true, rotated)).toMatchObject({
      result: "updated",
      changes: [],
      secret: "written",
    });
    expect(kept(open)[0]!.settings).toMatchObject({ authorization_credentials: "canary-bearer-4712" });
  });

  test("leaves other integrations of the name and other names alone", async () => {
    await using open = await openPlatform();
    const others = [pointOf(NAME, { uid: "mail", type: "email" }), pointOf("other")];
    open.platform.points.push(...structuredClone(others));
    expect((await run(open.client)).result).toBe("created");
    expect(open.platform.points.slice(1, 3)).toEqual(others);
  });

  test("refuses to choose between several webhooks of the name, or to deliver each alert twice", async () => {
    await using open = await openPlatform();
    open.platform.points.push(pointOf(NAME), pointOf(NAME, { uid: "second" }));
    const error = await failureOf(run(open.client));
    expect([error.code, error.message]).toEqual([
      "CONTACT_POINT_AMBIGUOUS",
      `Cannot set the contact point "${NAME}": 2 webhook integrations have this name`,
    ]);
    open.platform.points.splice(1, 2);
    await run(open.client);
    open.platform.points.push(pointOf(NAME, { settings: { url: URL } }));
    expect((await failureOf(run(open.client))).code).toBe("CONTACT_POINT_AMBIGUOUS");
    open.platform.points.at(-1)!.settings.url = "https://other.example.com/webhook";
    expect((await run(open.client)).result).toBe("unchanged");
    expect(open.platform.writes()).toHaveLength(1);
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
    const applied: AppliedPoint[] = await Promise.all([run(open.client), run(open.client)]);
    expect(applied.map(({ uid }) => uid)).toEqual(Array(2).fill(pointUid(NAME)));
    expect(kept(open)).toHaveLength(1);
  });

  test("says so when Grafana keeps something else", async () => {
    await using open = await openPlatform();
    open.platform.routes.createPoint.script = () => ({ status: 202, json: {} });
    const error = await failureOf(run(open.client));
    expect([error.code, error.message]).toEqual([
      "CONTACT_POINT_STORED_DIFFERENTLY",
      `Cannot set the contact point "${NAME}": Grafana stored something else: everything`,
    ]);
  });

  test("reports what Grafana refuses, without the secret that it may quote", async () => {
    await using open = await openPlatform();
    open.platform.routes.createPoint.next({ status: 400, json: { message: `invalid: Bearer ${BEARER}` } });
    const error = await failureOf(run(open.client));
    expect(error.code).toBe("MONITORING_HTTP_400");
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

describe("renderPoint()", () => {
  const applied: AppliedPoint = {
    name: NAME,
    uid: "u",
    result: "unchanged",
    changes: [],
    secret: "not_compared",
  };

  test("says that the secret was not compared, and what to do", () => {
    expect(renderPoint(applied)).toContain(
      "so it was not compared; after a change of WEBHOOK_SECRET add --rotate",
    );
  });

  test("shows each change, and nothing that a terminal would act on", () => {
    const changes = [{ path: "settings.url", from: "http://x/\u001b[2J", to: URL }];
    const text = renderPoint({ ...applied, result: "updated", changes, secret: "written" });
    expect(text).toStartWith(`updated    ${NAME} (u)\n  settings.url: `);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

describe("pointUid()", () => {
  test("is one for each name, of Grafana's form", () => {
    const uids = ["a", "b", "Plantão · É", "x".repeat(190)].map(pointUid);
    expect(new Set(uids).size).toBe(4);
    for (const uid of uids) expect(uid).toMatch(/^[a-z0-9-]{1,40}$/);
  });
});
