import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import { parseAlerts } from "../../../lib/webhook/alert/parse.ts";
import { fixtureAlerts } from "../support/golden-parts.ts";

/** The alerts of a body that is accepted. */
function alertsOf(body: unknown): Alert[] {
  const parsed = parseAlerts(body);
  if (!("alerts" in parsed)) throw new Error(`refused: ${JSON.stringify(parsed.invalid)}`);
  return parsed.alerts;
}

const only = (entry: unknown) => alertsOf({ alerts: [entry] })[0]!;
const fromJson = (text: string) => JSON.parse(text) as unknown;

describe("parseAlerts() of a platform's body", () => {
  test("keeps everything that the texts need", () => {
    expect(fixtureAlerts("grafana-firing")).toEqual([
      {
        name: "Traefik RAM Alta",
        status: "firing",
        firing: true,
        squad: "infra",
        severity: "warning",
        fingerprint: "5c1f0e9a77b3d2e4",
        summary: "Proxy acima de 500 MiB",
        description: expect.stringContaining("\n"),
        startsAt: "2026-03-02T08:15:30Z",
        endsAt: "0001-01-01T00:00:00Z",
        value: "612368384",
        unit: "bytes",
        reason: null,
        labels: expect.objectContaining({ instance: "main", ruleGroup: "vps-infra" }),
        ruleUrl: "https://example.grafana.net/alerting/grafana/vps-traefik-ram/view?orgId=1",
        silenceUrl: expect.stringContaining("https://example.grafana.net/alerting/silence/new"),
        dashboardUrl: null,
        truncatedAlerts: 0,
      },
    ]);
  });

  test("cuts texts far beyond what any text made of an alert can show", () => {
    const long = "x".repeat(8_000_000);
    const labels = { alertname: long, [long]: long, severity: long };
    const annotations = { summary: long, description: long, grafana_state_reason: long };
    const links = { generatorURL: long, silenceURL: long, dashboardURL: long };
    const alert = only({ status: long, labels, annotations, fingerprint: long, valueString: long, ...links });
    const texts = [...Object.values(alert), ...Object.entries(alert.labels).flat()];
    expect(texts.filter((text) => typeof text === "string" && text.length > 65_536)).toEqual([]);
    expect(JSON.stringify(alert).length).toBeGreaterThan(9 * 65_536);
  });

  test("cuts no text inside a character", () => {
    const long = `x${"😀".repeat(40_000)}`;
    const labels = { alertname: long, [long]: "v" };
    const alert = only({ status: long, labels, annotations: { summary: long }, valueString: long });
    const texts = [alert.status, alert.summary, alert.value, ...Object.entries(alert.labels).flat()];
    expect(texts.map((text) => text?.isWellFormed())).toEqual(texts.map(() => true));
    expect(alert.value).toHaveLength(65_535);
  });

  test("takes each alert's own status, in their order", () => {
    const seen = fixtureAlerts("grafana-mixed").map(({ status, firing, squad }) => [status, firing, squad]);
    expect(seen).toEqual([
      ["firing", true, "infra"],
      ["resolved", false, "infra"],
      ["firing", true, "security"],
    ]);
  });

  test("counts what the sender left out, on every alert", () => {
    expect(fixtureAlerts("grafana-truncated").map((alert) => alert.truncatedAlerts)).toEqual([15]);
    expect(fixtureAlerts("alertmanager-truncated").map((alert) => alert.truncatedAlerts)).toEqual([1]);
    for (const odd of [-1, 1.5, "3", null, {}, 1e300])
      expect(alertsOf({ alerts: [{}], truncatedAlerts: odd })[0]!.truncatedAlerts).toBe(0);
  });

  test("names the rule of an alert about missing data or an error, and takes -1 for no value", () => {
    const [noData] = fixtureAlerts("grafana-no-data");
    const [error] = fixtureAlerts("grafana-datasource-error");
    expect(noData).toMatchObject({ name: "Traefik RAM Alta", value: null, fingerprint: "77c0e1d2b3a4f596" });
    expect(error).toMatchObject({ name: "Traefik RAM Alta", value: null });
    expect(only({ labels: { alertname: "DatasourceNoData" } }).name).toBe("DatasourceNoData");
    expect(only({ labels: { alertname: "Outro", rulename: "Regra" } }).name).toBe("Outro");
  });

  test("has of a rule that could not be evaluated the platform's error alone", () => {
    const [noData] = fixtureAlerts("grafana-no-data");
    const [error] = fixtureAlerts("grafana-datasource-error");
    expect(noData).toMatchObject({ summary: null, description: null });
    expect(error).toMatchObject({
      summary: null,
      description: "failed to execute query A: context deadline exceeded",
    });
    const annotations = { summary: "s", description: "d", Error: "e" };
    expect(only({ labels: { alertname: "Disco" }, annotations })).toMatchObject({
      summary: "s",
      description: "d",
    });
  });

  test("an empty group is no alert, and fine", () => {
    expect(parseAlerts({ alerts: [], status: "firing", labels: {} })).toEqual({
      alerts: [],
      rejected: [],
      rejectedTotal: 0,
    });
  });
});

describe("parseAlerts() of the simple shape", () => {
  test("is one alert", () => {
    const [alert, ...others] = fixtureAlerts("simple");
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      name: "VPS Load Average Alto",
      firing: true,
      severity: "critical",
      squad: "infra",
    });
  });

  test.each([{ status: "firing" }, { labels: {} }, { labels: null }, { status: null }, { labels: [7] }])(
    "%p is enough",
    (body) => {
      expect(alertsOf(body)).toHaveLength(1);
    },
  );
});

describe("parseAlerts() refuses", () => {
  const object = "expected an object";
  test.each([
    ["null", [["$", object]]],
    ["7", [["$", object]]],
    ['"firing"', [["$", object]]],
    ["[]", [["$", object]]],
    ['[{"status":"firing","labels":{}}]', [["$", object]]],
    ["{}", [["$", "expected alerts, or an alert's status or labels"]]],
    [
      '{"__proto__":{"status":"firing","alerts":[{}]}}',
      [["$", "expected alerts, or an alert's status or labels"]],
    ],
    ['{"alerts":{}}', [["$.alerts", "expected a list of alerts"]]],
    ['{"alerts":null,"status":"firing","labels":{}}', [["$.alerts", "expected a list of alerts"]]],
    [
      '{"alerts":[7,null,[],"x"]}',
      [
        ["$.alerts[0]", object],
        ["$.alerts[1]", object],
        ["$.alerts[2]", object],
        ["$.alerts[3]", object],
      ],
    ],
  ])("%s", (json, problems) => {
    expect(parseAlerts(fromJson(json))).toEqual({
      invalid: problems.map(([path, problem]) => ({ path: path!, problem: problem! })),
      invalidTotal: problems.length,
    });
  });

  test.each([99, 100, 101, 100_000])("%i bad entries, of which the first hundred are listed", (count) => {
    const listed = Math.min(count, 100);
    const beside = parseAlerts(fromJson(`{"alerts":[{},${"1,".repeat(count)}{}]}`));
    expect(beside).toMatchObject({ alerts: [{}, {}], rejectedTotal: count });
    expect("rejected" in beside && beside.rejected).toEqual(
      Array.from({ length: listed }, (_, at) => ({ index: at + 1, problems: [object] })),
    );
    const alone = parseAlerts(fromJson(`{"alerts":[${Array(count).fill("[]").join()}]}`));
    expect(alone).toMatchObject({ invalid: { length: listed }, invalidTotal: count });
  });

  test("a refusal repeats nothing that the sender wrote, however long or deep", () => {
    const key = "k".repeat(1_000_000);
    const deep = `${'{"labels":'.repeat(50_000)}1${"}".repeat(50_000)}`;
    for (const entry of [`["${key}"]`, `[${deep}]`, `"${key}"`])
      expect(JSON.stringify(parseAlerts(fromJson(`{"alerts":[${entry}]}`))).length).toBeLessThan(200);
  });

  test("bad entries only, when there are good ones", () => {
    const parsed = parseAlerts({
      alerts: [{ status: "firing" }, 7, { labels: "x", annotations: 1 }, [{}], { labels: {} }],
    });
    expect(parsed).toMatchObject({
      alerts: [{ firing: true }, { firing: false, labels: {} }, { firing: false }],
      rejected: [
        { index: 1, problems: [object] },
        { index: 3, problems: [object] },
      ],
      rejectedTotal: 2,
    });
  });
});

describe("parseAlerts() reads an entry", () => {
  test.each([
    ["firing", true],
    ["resolved", false],
    ["Firing", false],
    ["firing ", false],
    ["", false],
    [undefined, false],
    [null, false],
    [true, false],
    [["firing"], false],
  ])("an entry of status %p is firing: %p", (status, firing) => {
    const alert = only({ status });
    expect(alert.firing).toBe(firing);
    expect(alert.status).toBe(typeof status === "string" ? status : null);
  });

  test("an entry without anything in it, or with labels and annotations that are no objects, is an alert", () => {
    const odd = [7, "x", false, [], [{ alertname: "x", summary: "y" }], 1e300];
    const entries = odd.map((value) => ({ labels: value, annotations: value }));
    for (const entry of [{}, { labels: null, annotations: null }, ...entries])
      expect(only(entry)).toMatchObject({
        name: null,
        severity: null,
        squad: "geral",
        summary: null,
        description: null,
        value: null,
        startsAt: null,
        ruleUrl: null,
        labels: {},
      });
  });

  test("labels of other kinds are texts, or left out", () => {
    const labels = { alertname: 7, up: true, ratio: 0.5, gone: null, list: [1], map: { a: 1 }, empty: "" };
    expect(only({ labels }).labels).toEqual({ alertname: "7", up: "true", ratio: "0.5", empty: "" });
    expect(only({ labels }).name).toBe("7");
  });

  test("labels that are called like parts of every object are kept as any other", () => {
    const alert = only(
      fromJson(
        '{"labels":{"__proto__":"p","constructor":"c","toString":"t","toJSON":"j","hasOwnProperty":"h"},"annotations":{"__proto__":{"summary":"x"}}}',
      ),
    );
    expect(JSON.stringify(alert.labels)).toBe(
      '{"__proto__":"p","constructor":"c","toString":"t","toJSON":"j","hasOwnProperty":"h"}',
    );
    expect(alert).toMatchObject({ severity: null, summary: null, name: null, squad: "geral" });
    expect(({} as Record<string, unknown>).summary).toBeUndefined();
  });

  test.each([
    ["vps-infra", "infra"],
    ["vps-security", "security"],
    ...["VPS-INFRA", "vps-infra ", "vps-infra-2", "", "toString", null, 7, ["vps-infra"]].map(
      (ruleGroup) => [ruleGroup, "geral"] as const,
    ),
  ])("the rule group %p belongs to the squad %s", (ruleGroup, squad) => {
    expect<unknown>(only({ labels: { ruleGroup } }).squad).toBe(squad);
  });

  test("a name of several lines becomes one line", () => {
    expect(only({ labels: { alertname: " Disco\r\n\u0000\u2028 Raiz\u202E " } }).name).toBe("Disco Raiz");
    expect(only({ labels: { alertname: "\n\u200B" } }).name).toBeNull();
  });

  test.each([
    ["2026-03-02T08:15:30Z", true],
    ["2026-03-02T05:15:30.123456789-03:00", true],
    ["0001-01-01T00:00:00Z", true],
    ["2026-02-30T08:15:30Z", false],
    ["2026-03-02T08:15:30", false],
    ["2026-03-02", false],
    ["2026-03-02T08:15:30-03:00[America/Sao_Paulo]", false],
    ["", false],
    [1_772_439_330, false],
    [null, false],
  ])("with the start %p: %p", (startsAt, isInstant) => {
    expect<unknown>(only({ startsAt }).startsAt).toBe(isInstant ? startsAt : null);
  });

  test.each([
    [{ values: { A: 0.5, B: 1, C: 1 }, valueString: "x" }, "1"],
    [{ values: { A: 42, C: 1 } }, "42"],
    [{ values: { B0: 93.5, C: 1 } }, "93.5"],
    [{ values: { A: 42, B: null, C: 1 } }, null],
    [{ values: { A: "42", C: 0 } }, null],
    [{ values: { A: 0 } }, "0"],
    [{ values: { A: 0, C: 1 } }, "0"],
    [{ values: { B: -0.25 } }, "-0.25"],
    [
      {
        values: null,
        valueString: "[ var='B' labels={instance=main} value=6.12e+08 ], [ var='C' labels={} value=1 ]",
      },
      "612000000",
    ],
    [{ values: null, valueString: "[ var='B' labels={} value=NaN ], [ var='C' labels={} value=0 ]" }, null],
    [{ values: null, valueString: "[ var='B' labels={} value=+Inf ]" }, null],
    [{ values: null, valueString: "muito alto" }, "muito alto"],
    [{ values: {}, valueString: "93" }, "93"],
    [{ values: {}, valueString: " " }, null],
    [{ values: { B: null } }, null],
    [{ values: [1] }, null],
    [{ values: "1", valueString: 7 }, null],
  ])("with the value %p: %p", (parts, value) => {
    expect(only(parts).value).toBe(value);
  });

  test.each([
    ["resolved", "2026-03-02T08:19:00Z", null],
    ["resolved", "2026-03-02T08:18:59Z", "2026-03-02T08:18:59Z"],
    ["firing", "2026-03-02T08:19:00Z", "2026-03-02T08:19:00Z"],
  ])("an entry that is %s, ended 08:19:00 and started %p has the start %p", (status, startsAt, start) => {
    const endsAt = "2026-03-02T08:19:00Z";
    expect(only({ status, startsAt, endsAt })).toMatchObject({ startsAt: start, endsAt });
  });

  test.each([
    ["NoData", -1, null],
    ["Error", -1, null],
    ["NoData, KeepLast", -1, null],
    ["MissingSeries", 11.2, "11.2"],
    ["Paused", 11.2, "11.2"],
  ])("a rule whose state has the reason %p gives the step %p the value %p", (reason, step, value) => {
    const annotations = { grafana_state_reason: reason };
    expect(only({ annotations, values: { A: step, B: step } }).value).toBe(value);
  });

  test.each([
    ["NoData", "NoData"],
    ["MissingSeries", "MissingSeries"],
    ["NoData, KeepLast", "NoData"],
    [" RuleDeleted ", "RuleDeleted"],
    ["KeepLast", null],
    ["toString", null],
    [["NoData"], null],
    [undefined, null],
  ])("with the platform's reason %p: %p", (reason, known) => {
    expect<unknown>(only({ annotations: { grafana_state_reason: reason } }).reason).toBe(known);
  });

  test.each([
    [{ annotations: { unit: "bytes" } }, "bytes"],
    [{ annotations: { unit: " Percent " } }, "percent"],
    [{ labels: { unit: "percent" } }, "percent"],
    [{ annotations: { unit: "constructor" } }, null],
    [{}, null],
  ])("with the unit of %p: %p", (parts, unit) => {
    expect<unknown>(only(parts).unit).toBe(unit);
  });
});

describe("parseAlerts() of anything", () => {
  test("answers in its shape and lets everything through JSON", () => {
    const entry = fc.record(
      {
        status: fc.anything(),
        labels: fc.anything(),
        annotations: fc.anything(),
        fingerprint: fc.anything(),
        startsAt: fc.anything(),
        values: fc.anything(),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({
        alerts: fc.oneof(fc.array(fc.oneof(entry, fc.jsonValue())), fc.jsonValue()),
        truncatedAlerts: fc.jsonValue(),
      }),
      entry,
    );
    fc.assert(
      fc.property(body, (value) => {
        const parsed = parseAlerts(fromJson(JSON.stringify(value, jsonOnly) ?? "null"));
        if ("invalid" in parsed) {
          expect(parsed.invalid.length).toBeGreaterThan(0);
          for (const { path } of parsed.invalid)
            expect(path).toMatch(/^\$(\.alerts)?(\[\d+\])?(\.(labels|annotations))?$/);
          return;
        }
        for (const alert of parsed.alerts) {
          expect(alert.firing).toBe(alert.status === "firing");
          expect(alert.fingerprint).not.toBe("");
          expect(Object.values(alert.labels).every((label) => typeof label === "string")).toBe(true);
          expect(JSON.stringify(fromJson(JSON.stringify(alert)))).toBe(JSON.stringify(alert));
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** `fc.anything` makes numbers too large for JSON, symbols and so on. */
function jsonOnly(_key: string, value: unknown): unknown {
  return typeof value === "bigint" || typeof value === "symbol" ? null : value;
}
