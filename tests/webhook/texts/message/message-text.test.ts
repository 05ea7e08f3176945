import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Alert } from "../../../../lib/webhook/alert/alert.ts";
import { parseAlerts } from "../../../../lib/webhook/alert/parse.ts";
import { type MessageContext, renderMessage } from "../../../../lib/webhook/texts/message/message-text.ts";
import { alertWith, anyAlert, hostileText } from "../../support/alert.ts";
import { AT_ONCE } from "../../support/golden-parts.ts";

const FIRST_LINE =
  /^(?:🔴|🟠|🟡|🔵|✅|⚪|⚠️) \*[^*\n]+\*(?: (?:não pôde|voltou a) ser avaliado)?(?: · [^\n]+)?$/u;
const OUR_LINE =
  /^(?:(Valor|Painel|Regra|Silenciar|Issue): \S.*|(A (?:consulta|avaliação) da regra) .*\(Datasource(?:NoData|Error)\)|\+[\d.]+ (alertas? não mostrados?)|(Enquanto) o WhatsApp .*|(#)[b-v]{8})$/u;
const OUR_ORDER =
  /^(A (consulta|avaliação) da regra )?(summary )?(quoted )*(labels |summary )?(quoted )?(Valor )?(alertas? não mostrados? )?(Painel |Regra )?(Silenciar )?(Issue )?(Enquanto )?(# )?$/;

const FIVE_MINUTES_LATER = Date.parse("2026-03-02T08:20:40Z");
const message = (parts: Parameters<typeof alertWith>[0], context: Partial<MessageContext> = {}) =>
  renderMessage(alertWith(parts), { ...AT_ONCE, nowMs: FIVE_MINUTES_LATER, ...context });
const linesOf = (parts: Parameters<typeof alertWith>[0], context: Partial<MessageContext> = {}) =>
  message(parts, context).split("\n");
const lineOf = (text: string, label: string) =>
  text.split("\n").find((line) => line.startsWith(`${label}: `)) ?? null;
const NO_LINKS = { ruleUrl: null, silenceUrl: null, dashboardUrl: null };

/** An alert as a sender writes it, read. */
function read(raw: object): Alert {
  const parsed = parseAlerts({ alerts: [raw] });
  if (!("alerts" in parsed)) throw new Error("The sender's alert is refused");
  return parsed.alerts[0]!;
}

describe("renderMessage()", () => {
  test("is laid out so that a person can act on it at 3 a.m.", () => {
    const labels = {
      alertname: "Disco Raiz Baixo",
      grafana_folder: "VPS",
      ruleGroup: "vps-infra",
      severity: "critical",
      mountpoint: "/",
      instance: "main",
    };
    const alert = {
      name: "Disco Raiz Baixo",
      severity: "critical",
      labels,
      summary: "Restam 11% do disco em /",
      description: "Veja primeiro `df -h /`.",
      value: "11.2",
      unit: "percent" as const,
      startsAt: "2026-03-02T21:10:00Z",
    };
    const nowMs = Date.parse("2026-03-02T21:15:59Z");
    const silenceUrl = "https://example.grafana.net/alerting/silence/new?matcher=__alert_rule_uid__%3Dd";
    expect(message({ ...alert, silenceUrl }, { nowMs, issueUrl: "https://linear.app/x/issue/OPS-1" })).toBe(
      [
        "🔴 *Disco Raiz Baixo* · main",
        "Crítico · infra · desde 18:10 (há 5 min)",
        "Restam 11% do disco em /",
        "> Veja primeiro ˋdf -h /ˋ.",
        "instance=main · mountpoint=/",
        "Valor: 11,2 %",
        "Painel: https://example.grafana.net/d/vps?from=1&to=2",
        "Silenciar: https://example.grafana.net/alerting/silence/new?matcher=%5F%5Falert_rule_uid%5F%5F%3Dd",
        "Issue: https://linear.app/x/issue/OPS-1",
      ].join("\n"),
    );
  });

  test.each([
    ["critical", "🔴", "Crítico · infra"],
    [" HIGH\n", "🟠", "Alto · infra"],
    ["Warning", "🟡", "Aviso · infra"],
    ["info", "🔵", "Informativo · infra"],
    ["page*d*", "🔵", "page*d∗ · infra"],
    ["x".repeat(100), "🔵", `${"x".repeat(59)}… · infra`],
    [null, "🔵", "infra"],
  ])("a message of severity %p begins with %p and then %p", (severity, marker, state) => {
    const [first, second] = linesOf({ severity, name: "Disco" });
    expect(first).toBe(`${marker} *Disco*`);
    expect(second).toBe(`${state} · desde 05:15 (há 5 min)`);
  });

  test.each([
    [{ status: "resolved", firing: false }, "✅", "Resolvido"],
    [{ status: "Firing", firing: false }, "⚪", 'Estado "Firing"'],
    [{ status: "*pending*\n✅ resolvido", firing: false }, "⚪", 'Estado "∗pending∗ ✅ resolvido"'],
    [{ status: "x".repeat(100), firing: false }, "⚪", `Estado "${"x".repeat(59)}…"`],
    [{ status: " ", firing: false }, "⚪", "Sem estado"],
    [{ status: null, firing: false }, "⚪", "Sem estado"],
  ])("a message of state %p begins with %p and then %p", (parts, marker, state) => {
    const [first, second] = linesOf({ ...parts, severity: "critical", endsAt: null, startsAt: null });
    expect(first).toBe(`${marker} *Traefik RAM Alta*`);
    expect(second).toBe(`${state} · Crítico · infra`);
  });

  test("does not call well what has ended without a measurement", () => {
    const over = { status: "resolved", firing: false, reason: "NoData" } as const;
    const [first, second, third] = linesOf({ ...over, name: "Disco" });
    expect(first).toBe("⚠️ *Disco* encerrado sem medição");
    expect(second).toStartWith("Encerrado · Aviso · infra");
    expect(third).toBe("A consulta da regra não trouxe dados: o problema pode continuar (NoData)");
    const labels = { alertname: "DatasourceError", rulename: "Disco" };
    expect(linesOf({ ...over, name: "Disco", labels, reason: "Paused" })[0]).toBe(
      "⚠️ *Disco* segue sem medição",
    );
    expect(linesOf({ reason: "NoData" })[2]).toBe("A consulta da regra não trouxe dados (NoData)");
  });

  test("calls an alert without a name so, and keeps a name inside its bold", () => {
    expect(linesOf({ name: null })[0]).toBe("🟡 *sem nome*");
    expect(linesOf({ name: "\u200B\n" })[0]).toBe("🟡 *sem nome*");
    expect(linesOf({ name: "a*b* c" })[0]).toBe("🟡 *a∗b∗ c*");
  });

  test("says what distinguishes it from its neighbours, on the first line", () => {
    const of = (labels: Record<string, string>) => linesOf({ name: "D", labels })[0];
    expect(of({ host: "h", project: "p" })).toBe("🟡 *D* · h");
    expect(of({ host: "h", instance: "10.0.0.5:9100" })).toBe("🟡 *D* · 10.0.0.5:9100");
    expect(of({ pod: "*p*", alertname: "D", severity: "high", container: "c" })).toBe("🟡 *D* · c · ∗p∗");
    expect(of({ project: "p", job: "j" })).toBe("🟡 *D* · p");
    expect(of({ instance: "", host: "h", job: "j" })).toBe("🟡 *D* · h");
    // The way by which an alert of the alarm itself comes makes no neighbour.
    expect(of({ alertname: "D", grafana_folder: "VPS", via: "other" })).toBe("🟡 *D*");
    expect(of({ instance: "x".repeat(200) })).toBe(`🟡 *D* · ${"x".repeat(79)}…`);
  });

  test("says since when, and how long a resolved one lasted", () => {
    const state = (parts: object, context: Partial<MessageContext> = {}) =>
      linesOf({ severity: null, ...parts }, context)[1];
    const ended = { status: "resolved", firing: false, endsAt: "2026-03-02T08:57:30Z" };
    expect(state(ended)).toBe("Resolvido · infra · durou 42 min (05:15 a 05:57)");
    expect(state({ ...ended, endsAt: "0001-01-01T00:00:00Z" })).toBe("Resolvido · infra · começou 05:15");
    expect(state({ ...ended, startsAt: null })).toBe("Resolvido · infra · terminou 05:57");
    expect(state({ startsAt: "ontem" })).toBe("infra");
  });

  test("says that it fires on, never at the first firing or the end", () => {
    expect(linesOf({}, { isRepeat: true })[1]).toBe("Aviso · infra · continua desde 05:15 (há 5 min)");
    expect(message({}, { isRepeat: false })).not.toContain("continua");
    expect(message({ status: "resolved", firing: false }, { isRepeat: true })).not.toContain("continua");
  });

  test("says that it is late from two minutes on", () => {
    expect(message({}, { waitedMs: 119_999 })).not.toContain("atraso");
    expect(linesOf({}, { waitedMs: 120_000 })[1]).toEndWith(" · enviado com 2 min de atraso");
    expect(linesOf({}, { waitedMs: 42 * 60_000 + 59_000 })[1]).toEndWith(" · enviado com 42 min de atraso");
  });

  test("says what was e-mailed, or not delivered, while WhatsApp took nothing", () => {
    const of = (emailed: number, undelivered: number) =>
      linesOf(NO_LINKS, { note: { emailed, undelivered } }).find((line) => line.startsWith("Enquanto"));
    expect(of(0, 0)).toBeUndefined();
    expect(of(1, 0)).toBe("Enquanto o WhatsApp não recebia: 1 alerta avisado por e-mail");
    expect(of(12, 2)).toBe(
      "Enquanto o WhatsApp não recebia: 12 alertas avisados por e-mail, 2 alertas não entregues",
    );
  });

  test("shows nothing of what is not known", () => {
    const nothing = { severity: null, summary: null, description: " \n ", startsAt: null, value: null };
    expect(message({ ...nothing, ...NO_LINKS })).toBe("🔵 *Traefik RAM Alta*\ninfra");
  });

  test("links the rule where there is no dashboard", () => {
    const ruleUrl = "https://example.com/rule";
    expect(lineOf(message({ dashboardUrl: "https://example.com/d", ruleUrl }), "Regra")).toBeNull();
    const without = message({ dashboardUrl: "javascript:alert(1)", ruleUrl });
    expect([lineOf(without, "Painel"), lineOf(without, "Regra")]).toEqual([null, `Regra: ${ruleUrl}`]);
  });

  test("says how many alerts are not shown", () => {
    expect(message({ truncatedAlerts: 0 })).not.toContain("mostrad");
    expect(message({ truncatedAlerts: 1 })).toContain("\n+1 alerta não mostrado\n");
    expect(message({ truncatedAlerts: 15 })).toContain("\n+15 alertas não mostrados\n");
  });

  test.each([
    [
      "DatasourceNoData",
      {},
      "A consulta da regra não trouxe dados",
      "A consulta da regra não trazia dados",
      "",
    ],
    [
      "DatasourceError",
      { Error: "deadline" },
      "A avaliação da regra falhou",
      "A avaliação da regra falhava",
      "> deadline\n",
    ],
  ])(
    "does not take %s for the incident, and quotes the platform's error, if any",
    (alertname, error, now, before, quoted) => {
      const labels = { alertname, rulename: "Disco", instance: "main" };
      const annotations = { summary: "Restam 11%", description: "Disco cheio.", ...error };
      const render = (status: string) =>
        renderMessage(read({ status, labels, annotations, values: { B: -1, C: -1 } }), AT_ONCE);
      expect(render("firing")).toBe(
        `⚠️ *Disco* não pôde ser avaliado · main\ngeral\n${now} (${alertname})\n${quoted}instance=main`,
      );
      expect(render("resolved")).toStartWith(
        `✅ *Disco* voltou a ser avaliado · main\nResolvido · geral\n${before} (${alertname})\n${quoted}`,
      );
    },
  );

  test("quotes every line of a description, and leaves out one that is the summary again", () => {
    expect(message({ description: "um\r\n\n> dois\u2028Squad: geral\u0085\t✅ *resolvido*" })).toContain(
      "\nProxy acima de 500 MiB\n> um\n> > dois\n> Squad: geral\n> ✅ ∗resolvido∗\nValor: ",
    );
    expect(message({ summary: "Cheio", description: " Cheio\n" })).toContain("\nCheio\nValor: ");
  });

  test.each([
    "Valor: 3",
    "Issue: https://evil.example",
    "✅ *Disco*",
    "🔴 Disco",
    "> citado",
    "- item",
    "* item",
    "1. item",
    "2) item",
    "#bcdfghjk",
    "+3 alertas não mostrados",
    "instance=outra",
    "A avaliação da regra falhou (DatasourceError)",
    "A série da regra sumiu: o problema pode continuar (MissingSeries)",
    "A regra foi pausada: o problema pode continuar (Paused)",
    "Enquanto o WhatsApp não recebia: 3",
  ])("quotes the summary %p, which is no line of ours", (summary) => {
    expect(linesOf({ summary })[2]).toStartWith("> ");
    if (!summary.includes("=")) {
      const text = linesOf({ summary: null, description: null, labels: { [summary]: "x" } });
      expect(text[2]).toStartWith("> ");
      expect(text.at(-1)).toMatch(/^#/);
    }
  });

  test.each([
    ["https://linear.app/x/issue/OPS-1", "Issue: https://linear.app/x/issue/OPS-1"],
    ["https://linear.app/_a_/*b*?c_d~`", "Issue: https://linear.app/%5Fa%5F/%2Ab%2A?c_d%7E%60"],
    ["javascript:alert(1)", null],
    ["https://user:word@linear.app/", null],
    ["não é um link", null],
    [`https://linear.app/${"a".repeat(1000)}`, null],
  ])("with the issue %p has the line %p", (issueUrl, expected) => {
    expect(lineOf(message({}, { issueUrl }), "Issue")).toBe(expected);
  });
});

describe("renderMessage() of alerts that differ in their labels", () => {
  const BASE = { alertname: "Disco", severity: "critical", ruleGroup: "vps-infra", instance: "main" };
  const silenceURL = "https://example.grafana.net/alerting/silence/new?matcher=__alert_rule_uid__%3Dd";
  const of = (labels: Record<string, string>, more: object = {}) =>
    renderMessage(read({ status: "firing", labels, fingerprint: "same", ...more }), AT_ONCE);

  test("has no mark while everything can be seen", () => {
    const labels = [
      BASE,
      { alertname: "Disco" },
      { ...BASE, severity: "page" },
      { ...BASE, host: "db1.example.com:9100", device: "/dev/mapper/vg0-root", "a_b-c": "x_y*z" },
      { alertname: "DatasourceError", rulename: "Disco", datasource_uid: "prom", ref_id: "A" },
    ];
    for (const each of labels) expect(of(each)).not.toMatch(/#[b-v]{8}$/);
    expect(of({ ...BASE, grafana_folder: "VPS" }, { silenceURL })).not.toMatch(/#[b-v]{8}$/);
  });

  const { alertname: _, ...nameless } = BASE;
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ["what stands between labels", { ...BASE, a: "/ · b=x" }, { ...BASE, a: "/", b: "x" }],
    ["what stands between labels, in a name", { ...BASE, "a=/ · b": "x" }, { ...BASE, a: "/", b: "x" }],
    ["an equals sign", { ...BASE, "pod=": "a" }, { ...BASE, pod: "=a" }],
    ["an empty label", BASE, { ...BASE, pod: "" }],
    ["formatting", { ...BASE, instance: "*a*" }, { ...BASE, instance: "\u2217a\u2217" }],
    ["a blank", BASE, { ...BASE, instance: " main" }],
    ["a character that is not shown", BASE, { ...BASE, instance: "ma\u200Bin" }],
    ["a severity's word", BASE, { ...BASE, severity: "Crítico" }],
    ["a severity's letters", BASE, { ...BASE, severity: "CRITICAL" }],
    ["a squad", { ...BASE, ruleGroup: "outro" }, { ...BASE, ruleGroup: "" }],
    ["a folder", { ...BASE, grafana_folder: "a" }, { ...BASE, grafana_folder: "b" }],
    ["a name's formatting", { ...BASE, alertname: "a*b" }, { ...BASE, alertname: "a\u2217b" }],
    ["a name's line", BASE, { ...BASE, alertname: "Disco\n" }],
    ["no name", nameless, { ...BASE, alertname: "sem nome" }],
    ["a rule's name", { ...BASE, rulename: "" }, BASE],
    [
      "a rule's name, which is the platform's own word",
      { ...BASE, alertname: "DatasourceError" },
      { ...BASE, alertname: "DatasourceError", rulename: "DatasourceError" },
    ],
    [
      "the end of a long severity",
      { ...BASE, severity: `${"m".repeat(60)}n` },
      { ...BASE, severity: `${"m".repeat(60)}o` },
    ],
    ["a broken link", { ...BASE, instance: "a://b" }, { ...BASE, instance: "a[://]b" }],
    [
      "the end of a long label",
      { ...BASE, pod: "m".repeat(5_000) },
      { ...BASE, pod: `${"m".repeat(5_000)}n` },
    ],
  ])("is another one where they differ in %s", (_difference, one, other) => {
    for (const status of ["firing", "resolved", "pending"])
      expect(of(one, { status })).not.toBe(of(other, { status }));
  });

  test("is never the same, whatever the labels are", () => {
    const keys = ["alertname", "severity", "ruleGroup", "grafana_folder", "instance", "a", "a=b"];
    const key = fc.oneof(
      fc.constantFrom(...keys),
      hostileText.map((text) => text.slice(0, 40)),
    );
    const values = [
      ...["main", "Disco", "critical", "Critical", "vps-infra", "DatasourceError", "sem nome", ""],
      ...["a · b=c", "b=c", "*a*", "\u2217a\u2217", "a ", "a", "a.com", "a[.]com"],
    ];
    const value = fc.oneof(fc.constantFrom(...values), hostileText);
    const labels = fc.dictionary(key, value, { maxKeys: 6 });
    // One label more, less or changed: the nearest that two sets can be.
    const pair = fc.tuple(labels, key, fc.option(value, { nil: null })).map(([one, name, text]) => {
      const { [name]: _, ...rest } = one;
      return [one, text === null ? rest : { ...rest, [name]: text }] as const;
    });
    fc.assert(
      fc.property(pair, fc.option(fc.constant("s=t"), { nil: undefined }), ([one, other], summary) => {
        fc.pre(JSON.stringify(Object.entries(one).sort()) !== JSON.stringify(Object.entries(other).sort()));
        const annotations = { summary, description: summary };
        expect(of(one, { annotations })).not.toBe(of(other, { annotations }));
      }),
      { numRuns: 400 },
    );
  });
});

describe("renderMessage() of texts with links", () => {
  const evil = "veja https://evil.example/x";

  test("shows hosts, addresses and links of annotations as they were sent", () => {
    const sent = "veja https://db.example.com/_a_?b=__all, root@10.0.0.5 ou www.example.com";
    const lines = linesOf({ summary: null, description: sent, ...NO_LINKS });
    // The marks that would format are encoded: the link leads where it did.
    expect(lines[2]).toBe(
      "> veja https://db.example.com/%5Fa%5F?b=%5F%5Fall, root@10.0.0.5 ou www.example.com",
    );
    expect(linesOf({ summary: "db1.example.com: *fora* https://a.example/x" })[2]).toBe(
      "db1.example.com: \u2217fora\u2217 https://a.example/x",
    );
  });

  test("breaks those of labels, which a stranger's request may have chosen", () => {
    const labels = { instance: evil, path: "http://", "a://b": "db1.example.com" };
    const [first, second, ...others] = linesOf({ name: evil, severity: evil, labels });
    expect(first).toBe("🔵 *veja https[://]evil.example/x* · veja https[://]evil.example/x");
    expect(second).toStartWith("veja https[://]evil.example/x · infra");
    expect(others).toContain(
      "a[://]b=db1.example.com · instance=veja https[://]evil.example/x · path=http[://]",
    );
  });

  test("has no link of a label in an alert of anything", () => {
    fc.assert(
      fc.property(anyAlert, (alert) => {
        const text = {
          ...alert,
          summary: null,
          description: null,
          status: "firing",
          firing: true,
          value: null,
        };
        const lines = renderMessage(text, AT_ONCE).split("\n");
        const isOurs = (line: string) => /^(Painel|Regra|Silenciar|Issue): /.test(line);
        expect(lines.filter((line) => !isOurs(line) && /\w:\/\/\w/.test(line))).toEqual([]);
      }),
    );
  });
});

describe("renderMessage() of long texts", () => {
  const long = (letter: string, units: number) => `${letter.repeat(9)} `.repeat(units / 10).trim();

  test("shortens the description first, and leaves the rest whole", () => {
    const text = message({
      summary: long("s", 1500),
      description: long("d", 90_000),
      labels: { instance: long("l", 500) },
      value: long("v", 500),
    });
    expect(text.length).toBeGreaterThan(3950);
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(text).toContain(`\n${long("s", 1500)}\n> ddd`);
    expect(text).toContain(`d…\ninstance=${long("l", 500)}\nValor: ${long("v", 500)}\nPainel: https`);
  });

  test("summary, labels, value and name are shortened after the description, never below what can be read", () => {
    const all = {
      summary: long("s", 9000),
      description: long("d", 9000),
      labels: { pod: long("l", 9000) },
      value: long("v", 9000),
      name: long("n", 9000),
    };
    const text = message({ ...all, ...NO_LINKS }, { issueUrl: `https://linear.app/${"a".repeat(900)}` });
    const words = (letter: string) => text.split(letter.repeat(9)).length - 1;
    expect(text.length).toBeLessThanOrEqual(4000);
    // The label is on the first line, too.
    for (const letter of ["d", "s", "v"]) expect(words(letter)).toBeWithin(27, 31);
    expect(words("l")).toBeWithin(27, 40);
    expect(words("n")).toBeGreaterThan(100);
    expect(text).toMatch(/a{900}\n#[b-v]{8}$/);
  });

  test("leaves out the links that do not fit with all of them, the issue last", () => {
    const url = `https://example.com/${"a".repeat(950)}`;
    const all = "a".repeat(9000);
    const text = message(
      {
        summary: all,
        description: all,
        value: all,
        name: all,
        labels: { a: all },
        silenceUrl: url,
        dashboardUrl: url,
      },
      { issueUrl: url, waitedMs: 1e9, note: { emailed: 1e6, undelivered: 1e6 } },
    );
    expect(text.length).toBeLessThanOrEqual(4000);
    expect([lineOf(text, "Painel"), lineOf(text, "Issue")]).toEqual([null, `Issue: ${url}`]);
  });

  test("never cuts inside a character", () => {
    for (const unit of ["😀", "👨‍👩‍👧‍👦", "e\u0301"])
      for (let units = 0; units < 12; units++) {
        const [, kept] = /\n> a*(.*)…\nValor/u.exec(
          message({ description: "a".repeat(units) + unit.repeat(4000) }),
        )!;
        expect(kept!.replaceAll(unit, "")).toBe("");
      }
  });

  test("says so where even the first character is too long", () => {
    expect(message({ name: `n${"\u0301".repeat(9000)}`, description: null })).toStartWith("🟡 *…*\n");
  });
});

describe("renderMessage() of anything", () => {
  const anyContext = fc.record({
    issueUrl: fc.option(hostileText, { nil: null }),
    isRepeat: fc.boolean(),
    nowMs: fc.constantFrom(0, FIVE_MINUTES_LATER),
    waitedMs: fc.constantFrom(0, 1e12),
    note: fc.record({ emailed: fc.nat(), undelivered: fc.nat() }),
  });

  test("fits, is well formed, and every line of it is ours or quoted, summary and labels in their places", () => {
    fc.assert(
      fc.property(anyAlert, anyContext, (alert, context) => {
        const text = renderMessage(alert, context);
        expect(text.length).toBeLessThanOrEqual(4000);
        expect(text.isWellFormed()).toBe(true);
        expect(text.replaceAll("\n", "")).not.toMatch(
          /[\p{Cc}\u2028\u2029\u200B\u202A-\u202E\u2066-\u2069\uFEFF]/u,
        );
        const [first, second, ...lines] = text.split("\n");
        expect(first).toMatch(FIRST_LINE);
        expect(second).toContain(alert.squad);
        const kinds = lines.map((line) => {
          if (line.startsWith("> ")) return "quoted";
          const ours = OUR_LINE.exec(line)?.slice(1).find(Boolean);
          return ours ?? (line.includes("=") ? "labels" : "summary");
        });
        expect(kinds.map((kind) => `${kind} `).join("")).toMatch(OUR_ORDER);
      }),
      { numRuns: 150 },
    );
  });

  test("formats nothing but the name", () => {
    // What opens bold, italic, struck or code in WhatsApp: a mark that no letter or digit stands before.
    const opener = /`|(?<![\p{L}\p{N}])[*_~](?=\S)/u;
    fc.assert(
      fc.property(anyAlert, (alert) => {
        const [first, ...lines] = renderMessage(alert, AT_ONCE).split("\n");
        expect(first!.replace(/ \*([^*]*)\*/u, " $1")).not.toMatch(opener);
        for (const line of lines) expect(line).not.toMatch(opener);
        // Nor a list; a quotation is marked by us.
        for (const line of lines) expect(line).not.toMatch(/^(?:[-*] |\d+[.)] )/);
      }),
      { numRuns: 150 },
    );
  });
});
