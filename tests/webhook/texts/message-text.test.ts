import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderMessage } from "../../../lib/webhook/texts/message-text.ts";
import { linksIn } from "../../text/support/linkifiers.ts";
import { alertWith, anyAlert, hostileText, linkingText } from "../support/alert.ts";

const FIRST_LINE = /^(🔴 disparado|✅ resolvido|⚪ sem estado|⚪ estado ".+"): \*[^*\n]+\*$/u;
const OUR_LINE =
  /^(?:(Problema|Squad|Severidade|Resumo|Início|Fim|Valor|Regra|Issue): \S.*|(Descrição:)|\+[\d.[\]]+ (alertas? não mostrados?))$/u;
const OUR_ORDER =
  /^(Problema )?Squad (Severidade )?(Resumo )?(Descrição: )?(Início )?(Fim )?(Valor )?(alertas? não mostrados? )?(Regra )?(Issue )?$/;

const message = (parts: Parameters<typeof alertWith>[0], issueUrl: string | null = null) =>
  renderMessage(alertWith(parts), { issueUrl });
const lineOf = (text: string, label: string) =>
  text.split("\n").find((line) => line.startsWith(`${label}: `)) ?? null;

describe("renderMessage()", () => {
  test.each([
    [{ status: "firing", firing: true }, "🔴 disparado: *Disco*"],
    [{ status: "resolved", firing: false }, "✅ resolvido: *Disco*"],
    [{ status: "Firing", firing: false }, '⚪ estado "Firing": *Disco*'],
    [{ status: "*pending*\n✅ resolvido", firing: false }, '⚪ estado "∗pending∗ ✅ resolvido": *Disco*'],
    [{ status: "x".repeat(100), firing: false }, `⚪ estado "${"x".repeat(59)}…": *Disco*`],
    [{ status: " ", firing: false }, "⚪ sem estado: *Disco*"],
    [{ status: null, firing: false }, "⚪ sem estado: *Disco*"],
  ])("%p begins with %p", (parts, first) => {
    expect(message({ ...parts, name: "Disco" }).split("\n")[0]).toBe(first);
  });

  test("calls an alert without a name so, and keeps a name inside its bold", () => {
    expect(message({ name: null })).toStartWith("🔴 disparado: *sem nome*\n");
    expect(message({ name: "\u200B\n" })).toStartWith("🔴 disparado: *sem nome*\n");
    expect(message({ name: "a*b* c" })).toStartWith("🔴 disparado: *a∗b∗ c*\n");
  });

  test("tells times as they are in São Paulo, and an end only where there is one", () => {
    const ended = { status: "resolved", firing: false, startsAt: "2018-11-04T02:59:59.9Z" };
    const text = message({ ...ended, endsAt: "2018-11-04T03:00:00Z" });
    expect(lineOf(text, "Início")).toBe("Início: 03/11/2018 23:59:59 (Brasília)");
    expect(lineOf(text, "Fim")).toBe("Fim: 04/11/2018 01:00:00 (Brasília)");
    expect(lineOf(message({ ...ended, endsAt: "0001-01-01T00:00:00Z" }), "Fim")).toBeNull();
    expect(lineOf(message({ ...ended, endsAt: null }), "Fim")).toBeNull();
    expect(lineOf(message({ endsAt: "2026-03-02T09:00:00Z" }), "Fim")).toBeNull();
    expect(lineOf(message({ startsAt: "ontem" }), "Início")).toBeNull();
  });

  test("shows nothing of what is not known", () => {
    const nothing = {
      severity: null,
      summary: null,
      description: " \n ",
      startsAt: null,
      value: null,
      ruleUrl: null,
    };
    expect(message(nothing)).toBe("🔴 disparado: *Traefik RAM Alta*\nSquad: infra");
  });

  test("says how many alerts are not shown", () => {
    expect(message({ truncatedAlerts: 0 })).not.toContain("mostrad");
    expect(message({ truncatedAlerts: 1 })).toContain("\n+1 alerta não mostrado\n");
    expect(message({ truncatedAlerts: 15 })).toContain("\n+15 alertas não mostrados\n");
  });

  test.each([
    ["DatasourceNoData", "a consulta da regra não trouxe dados"],
    ["DatasourceError", "a regra não pôde ser avaliada"],
  ])("explains %s", (alertname, meaning) => {
    const text = message({ name: "Disco", labels: { alertname, rulename: "Disco" } });
    expect(text).toStartWith(`🔴 disparado: *Disco*\nProblema: ${alertname}, ${meaning}\n`);
  });

  test("quotes every line of a description", () => {
    expect(message({ description: "um\r\n\n> dois\u2028Squad: geral\u0085\t✅ *resolvido*" })).toContain(
      "\nDescrição:\n> um\n> > dois\n> Squad: geral\n> ✅ ∗resolvido∗\nInício: ",
    );
  });

  test.each([
    ["https://linear.app/x/issue/OPS-1", "Issue: https://linear.app/x/issue/OPS-1"],
    ["https://linear.app/_a_/*b*?c_d~`", "Issue: https://linear.app/%5Fa%5F/%2Ab%2A?c_d%7E%60"],
    ["javascript:alert(1)", null],
    ["https://user:word@linear.app/", null],
    ["não é um link", null],
    [`https://linear.app/${"a".repeat(1000)}`, null],
  ])("with the issue %p has the line %p", (issueUrl, expected) => {
    expect(lineOf(message({}, issueUrl), "Issue")).toBe(expected);
  });
});

describe("renderMessage() of texts with links", () => {
  const evil = "veja https://evil.example/x e evil.com.br";
  const broken = "veja https[://]evil[.]example/x e evil[.]com[.]br";
  const ours = (text: string) => text.split("\n").filter((line) => /^(Regra|Issue): /.test(line));

  test("breaks them in every line but those of the rule and the issue", () => {
    const parts = { name: evil, status: evil, firing: false, severity: evil, summary: evil, value: evil };
    const text = message({ ...parts, description: `${evil}\n${evil}` }, "https://linear.app/x/issue/OPS-1");
    expect(text.split(broken).length - 1).toBe(7);
    expect(ours(text)).toEqual([
      "Regra: https://example.grafana.net/alerting/grafana/vps-traefik-ram/view?orgId=1",
      "Issue: https://linear.app/x/issue/OPS-1",
    ]);
    expect(linksIn(text.replaceAll(ours(text).join("\n"), ""))).toEqual([]);
  });

  test("leaves none in an alert of anything", () => {
    fc.assert(
      fc.property(anyAlert, linkingText, linkingText, (alert, one, other) => {
        const linking = {
          ...alert,
          name: one,
          summary: other,
          description: `${one}\n${other}`,
          value: other,
        };
        for (const each of [alert, linking]) {
          const text = renderMessage(each, { issueUrl: null });
          const lines = text.split("\n").filter((line) => !line.startsWith("Regra: "));
          expect(linksIn(lines.join("\n"))).toEqual([]);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("makes none by a cut: of a file's ending not the first half stays", () => {
    for (const ending of ["conf", "service", "socket", "toml", "ini"])
      for (let units = 0; units < 12; units++) {
        const description = `${"a".repeat(units)}${`aaaaaaaa.${ending}-`.repeat(1000)}`;
        const text = message({ description, ruleUrl: null });
        expect(text).toEndWith("…\nInício: 02/03/2026 05:15:30 (Brasília)\nValor: B=612368384");
        expect(linksIn(text.slice(-150))).toEqual([]);
      }
  });

  test("makes none by a cut: the … is no host", () => {
    for (let units = 0; units < 12; units++) {
      const description = `${"a".repeat(units)}${" https://".repeat(1000)}`;
      const text = message({ description, ruleUrl: null });
      expect(text).toContain("[://]…\n");
      expect(linksIn(text)).toEqual([]);
    }
  });

  test("keeps alerts apart that differ in nothing else", () => {
    expect(message({ summary: "evil.com" })).not.toBe(message({ summary: "evil[.]com" }));
  });
});

describe("renderMessage() of long texts", () => {
  const long = (letter: string, units: number) => `${letter.repeat(9)} `.repeat(units / 10).trim();

  test("shortens the description first, and leaves the rest whole", () => {
    const text = message({
      summary: long("s", 1500),
      description: long("d", 90_000),
      value: long("v", 1000),
    });
    expect(text.length).toBeGreaterThan(3950);
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(text).toContain(`Resumo: ${long("s", 1500)}\nDescrição:\n> ddd`);
    expect(text).toContain(
      `d…\nInício: 02/03/2026 05:15:30 (Brasília)\nValor: ${long("v", 1000)}\nRegra: https`,
    );
  });

  test("then the summary, the value and the name, never below what can be read", () => {
    const all = {
      summary: long("s", 9000),
      description: long("d", 9000),
      value: long("v", 9000),
      name: long("n", 9000),
    };
    const text = message(all, `https://linear.app/${"a".repeat(900)}`);
    const [d, s, v, n] = ["d", "s", "v", "n"].map((letter) => text.split(letter.repeat(9)).length - 1);
    expect(text.length).toBeLessThanOrEqual(4000);
    expect([d, s, v].every((words) => words! >= 27 && words! <= 30)).toBe(true);
    expect(n).toBeGreaterThan(100);
    expect(text).toEndWith("a".repeat(900));
    const two = message({ ...all, name: "n", value: null });
    expect(two.split("ddddddddd").length - 1).toBeLessThanOrEqual(30);
    expect(two.split("sssssssss").length - 1).toBeGreaterThan(300);
  });

  test("leaves a link out that its encoding makes too long", () => {
    const ruleUrl = `https://example.com/${"*".repeat(980)}`;
    const all = long("a", 9000);
    const text = message({ summary: all, description: all, value: all, name: all, ruleUrl }, ruleUrl);
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(lineOf(text, "Regra")).toBeNull();
    const edge = `https://example.com/${"*".repeat(326)}xx`;
    expect(lineOf(message({ ruleUrl: edge }), "Regra")).toHaveLength("Regra: ".length + 1000);
    expect(lineOf(message({ ruleUrl: `${edge}x` }), "Regra")).toBeNull();
  });

  test("drops a description that is cut between two lines, not its mark", () => {
    for (let units = 0; units < 12; units++) {
      const text = message({ summary: "s".repeat(units), description: "x\n".repeat(5000) });
      expect(text).toMatch(/\n> x\s?…\nInício/);
      expect(text.length).toBeLessThanOrEqual(4000);
    }
  });

  test("never cuts inside a character", () => {
    for (const unit of ["😀", "👨‍👩‍👧‍👦", "e\u0301"])
      for (let units = 0; units < 12; units++) {
        const [, kept] = /\n> a*(.*)…\nInício/u.exec(
          message({ description: "a".repeat(units) + unit.repeat(4000) }),
        )!;
        expect(kept!.replaceAll(unit, "")).toBe("");
      }
  });

  test("says so where even the first character is too long", () => {
    expect(message({ name: `n${"\u0301".repeat(9000)}`, description: null })).toStartWith(
      "🔴 disparado: *…*\n",
    );
  });
});

describe("renderMessage() of anything", () => {
  test("fits, is well formed, and every line of it is ours or quoted", () => {
    fc.assert(
      fc.property(anyAlert, fc.option(hostileText, { nil: null }), (alert, issueUrl) => {
        const text = renderMessage(alert, { issueUrl });
        expect(text.length).toBeLessThanOrEqual(4000);
        expect(text.isWellFormed()).toBe(true);
        expect(text.replaceAll("\n", "")).not.toMatch(
          /[\p{Cc}\u2028\u2029\u200B\u202A-\u202E\u2066-\u2069\uFEFF]/u,
        );
        const [first, ...lines] = text.split("\n");
        expect(first).toMatch(FIRST_LINE);
        const ours = lines.filter((line) => !line.startsWith("> "));
        const labels = ours.map((line) => OUR_LINE.exec(line)?.slice(1).find(Boolean) ?? `not ours: ${line}`);
        expect(labels.map((label) => `${label} `).join("")).toMatch(OUR_ORDER);
        const quoted = lines.findLastIndex((line) => line.startsWith("> "));
        if (quoted >= 0)
          expect(lines.slice(0, quoted + 1).findLast((line) => !line.startsWith("> "))).toBe("Descrição:");
      }),
      { numRuns: 400 },
    );
  });

  test("formats nothing but the name", () => {
    // What opens bold, italic, struck or code in WhatsApp: a mark that no letter or digit stands before.
    const opener = /`|(?<![\p{L}\p{N}])[*_~](?=\S)/u;
    fc.assert(
      fc.property(anyAlert, (alert) => {
        const [first, ...lines] = renderMessage(alert, { issueUrl: null }).split("\n");
        expect(first!.replace(/: \*([^*]*)\*$/u, ": $1")).not.toMatch(opener);
        for (const line of lines) expect(line).not.toMatch(opener);
      }),
      { numRuns: 400 },
    );
  });
});
