import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { issuePriority, issueTitle, renderIssueBody } from "../../../../lib/webhook/texts/issue/issue.ts";
import { alertWith, anyAlert, hostileText } from "../../support/alert.ts";

/** The body as a markdown reader with tables and links shows it. */
function shown(markdown: string): string {
  return Bun.markdown.html(markdown, { autolinks: true, tables: true, strikethrough: true, tasklists: true });
}

const TAGS = ["ul", "li", "strong", "a", "p", "blockquote", "table", "thead", "tbody", "tr", "th", "td"];

function tagsOf(html: string): string[] {
  return [...html.matchAll(/<\/?([a-z0-9]+)/g)].map(([, tag]) => tag!);
}

const count = (text: string, part: string) => text.split(part).length - 1;

describe("issueTitle()", () => {
  test.each([
    ["infra", { alertname: "VPS Load Average Alto" }, "[ALERTA][infra] VPS Load Average Alto"],
    ["security", { alertname: "a [b] *c* <d>" }, "[ALERTA][security] a [b] *c* <d>"],
    ["geral", {}, "[ALERTA][geral] sem nome"],
    ["geral", { alertname: "um\ndois" }, "[ALERTA][geral] um dois"],
    ["infra", { alertname: "DatasourceError", rulename: "Disco" }, "[ALERTA][infra] DatasourceError"],
  ] as const)("squad %p with labels %p has the title %p", (squad, labels, title) => {
    expect(issueTitle(alertWith({ squad, labels }))).toBe(title);
  });

  test("is shortened where no tracker would take it", () => {
    const title = issueTitle(alertWith({ labels: { alertname: "😀".repeat(500) } }));
    expect(title.length).toBeLessThanOrEqual(255);
    expect(title).toMatch(/^\[ALERTA\]\[infra\] (😀)+…$/u);
  });
});

describe("issuePriority()", () => {
  test.each([
    ["critical", 1],
    [" Critical\n", 1],
    ["HIGH", 2],
    ["warning", 3],
    ["info", 0],
    ["low", 0],
    ["", 0],
    ["toString", 0],
    [null, 0],
  ])("severity %p has priority %p", (severity, priority) => {
    expect<number>(issuePriority(severity)).toBe(priority);
  });
});

describe("renderIssueBody()", () => {
  test("leaves out what is not known", () => {
    const nothing = { severity: null, summary: null, description: null, startsAt: null, value: null };
    const noLinks = { ruleUrl: "", silenceUrl: "javascript:alert(1)", dashboardUrl: "ftp://example.com/" };
    expect(renderIssueBody(alertWith({ ...nothing, ...noLinks, labels: {}, fingerprint: "f" }))).toBe(
      "- **Estado:** 🔵 disparado\n- **Squad:** infra\n- **Fingerprint:** f\n",
    );
  });

  test("says where, and the value with its unit", () => {
    const labels = { instance: "main", device: "sda" };
    const body = renderIssueBody(alertWith({ labels, value: "11.2", unit: "percent" }));
    expect(body).toContain("\n- **Sobre:** main\n- **Squad:** infra\n");
    expect(body).toContain("\n- **Valor:** 11,2 %\n");
  });

  test("does not take an error of the platform for the incident", () => {
    const labels = { alertname: "DatasourceError", rulename: "Disco", ref_id: "A" };
    const texts = { summary: null, description: "deadline" };
    const body = renderIssueBody(alertWith({ name: "Disco", labels, ...texts, value: null }));
    expect(body).toStartWith(
      "- **Estado:** ⚠️ não pôde ser avaliado\n" +
        "- **Problema:** A avaliação da regra falhou (DatasourceError)\n" +
        "- **Regra avaliada:** Disco\n- **Squad:** infra\n",
    );
    expect(body).toContain("\n**Erro da plataforma**\n\n> deadline\n");
    expect(body).not.toContain("Resumo");
  });

  test("has no link but ours: rule, silence and dashboard", () => {
    const html = shown(
      renderIssueBody(alertWith({ description: "veja https://evil.example e www.evil.example" })),
    );
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replaceAll("&amp;", "&"))).toEqual([
      "https://example.grafana.net/alerting/grafana/vps-traefik-ram/view?orgId=1",
      "https://example.grafana.net/alerting/silence/new?alertmanager=grafana&orgId=1",
      "https://example.grafana.net/d/vps?from=1&to=2",
    ]);
  });

  test("shows hosts, addresses and links of annotations as they were sent, and breaks those of labels", () => {
    const sent = "https://db.example.com/x 10.0.0.5 root@host www.example.com";
    const html = shown(renderIssueBody(alertWith({ summary: sent, description: sent, labels: { a: sent } })));
    expect(count(html, sent)).toBe(2);
    expect(count(html, sent.replace("://", "[://]"))).toBe(2);
  });

  test("sorts the labels, whatever order they came in", () => {
    const names = (labels: Record<string, string>) =>
      [...renderIssueBody(alertWith({ labels })).matchAll(/^\| (\w+) \| x \|$/gm)].map(([, name]) => name!);
    expect(names({ b: "x", a: "x", B: "x" })).toEqual(["B", "a", "b"]);
    expect(names({ a: "x", B: "x", b: "x" })).toEqual(["B", "a", "b"]);
  });

  test("shows hostile texts as they are", () => {
    const hostile = `\\*a* _b_ \`c\` [d](evil) <e> &lt; &#42; | #f ~~g~~ 1. - x\\`;
    const html = shown(
      renderIssueBody(
        alertWith({
          summary: hostile,
          description: `${hostile}\n${hostile}`,
          labels: { [hostile]: hostile },
        }),
      ),
    );
    const readable = hostile.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    expect(count(html, readable)).toBe(6);
    // A mark that the tracker knows, and this reader does not.
    expect(renderIssueBody(alertWith({ summary: "==b==" }))).toContain("\\=\\=b\\=\\=");
  });

  test.each([
    "- x",
    "+ x",
    "* x",
    "1. x",
    "12) x",
    "# x",
    "> x",
    "---",
    "===",
    "```",
    "~~~",
    "| a | b |",
    "[x]: y",
    "    x",
    "<div>",
    "+++ x",
    "- [ ] x",
  ])("keeps a description's line %p a line of text", (line) => {
    const quotation = /<blockquote>([\s\S]*)<\/blockquote>/.exec(
      shown(renderIssueBody(alertWith({ description: `antes\n${line}\n${line}` }))),
    )![1]!;
    expect([...new Set(tagsOf(quotation))]).toEqual(["p"]);
    expect(count(quotation, "<p>")).toBe(3);
  });

  test("mentions nobody", () => {
    const body = renderIssueBody(
      alertWith({ summary: "@fulano", description: "@fulano a@b.example", labels: { "@a": "@b" } }),
    );
    expect(body).not.toMatch(/(?<![a-z]\\)@/);
    expect(shown(body)).toContain("a@b.example");
  });

  test("keeps within 60,000 units, counting the labels that it leaves out", () => {
    const labels = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`k${i}`, "&".repeat(900)]));
    const long = "&*_\n".repeat(40_000);
    const body = renderIssueBody(
      alertWith({ summary: long, description: long, severity: long, value: long, fingerprint: long, labels }),
    );
    expect(body.length).toBeLessThanOrEqual(60_000);
    expect(body.length).toBeGreaterThan(10_000);
    const rows = count(body, "\n| k");
    expect(rows).toBeGreaterThan(5);
    expect(body).toContain(`\n${900 - rows} labels não mostrados\n`);
  });
});

describe("renderIssueBody() of anything", () => {
  test("fits, is well formed, and has our elements and links only", () => {
    fc.assert(
      fc.property(anyAlert, (alert) => {
        const body = renderIssueBody(alert);
        expect(body.length).toBeLessThanOrEqual(60_000);
        expect(body.isWellFormed()).toBe(true);
        const html = shown(body);
        expect(tagsOf(html).filter((tag) => !TAGS.includes(tag))).toEqual([]);
        expect(count(html, "<ul>")).toBe(1);
        expect(count(html, "<a ")).toBeLessThanOrEqual(3);
        expect(count(html, "<table>")).toBe(Object.keys(alert.labels).length > 0 ? 1 : 0);
        expect(html).not.toMatch(/href="(?!https?:\/\/)/);
      }),
      { numRuns: 300 },
    );
  });

  test("has one row and two cells for each label", () => {
    const short = hostileText.map((text) => text.slice(0, 200));
    fc.assert(
      fc.property(fc.dictionary(short, short, { minKeys: 1, maxKeys: 8 }), (labels) => {
        const html = shown(renderIssueBody(alertWith({ labels })));
        expect(count(html, "<tr>")).toBe(1 + Object.keys(labels).length);
        expect(count(html, "<td>")).toBe(2 * Object.keys(labels).length);
      }),
      { numRuns: 300 },
    );
  });
});
