import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type DigestRow, renderDigest } from "../../../../lib/webhook/texts/message/digest.ts";
import { alertWith, anyAlert } from "../../support/alert.ts";

const nowMs = Date.parse("2026-03-02T08:20:40Z");
const MINUTE = 60_000;

type Parts = Parameters<typeof alertWith>[0] & { isRepeat?: boolean; waitedMs?: number };
const entry = ({ isRepeat = false, waitedMs = 0, ...parts }: Parts = {}): DigestRow => ({
  alert: alertWith(parts),
  isRepeat,
  waitedMs,
});
const on = (instance: string, parts: Parts = {}) =>
  entry({ fingerprint: instance, labels: { alertname: "Traefik RAM Alta", instance }, ...parts });
const NOTHING = { emailed: 0, undelivered: 0 };
const digest = (...rows: DigestRow[]) => renderDigest(rows, { nowMs, note: NOTHING });
/** The lines of the alerts, behind the empty one. */
const tail = (text: string) => text.split("\n\n")[1]!.split("\n");
const RESOLVED = { status: "resolved", firing: false, endsAt: "2026-03-02T08:19:00Z" };

describe("renderDigest()", () => {
  test("counts by rule, then has a line for each alert", () => {
    const disk = { name: "Disco Raiz Baixo", severity: "high" };
    expect(
      digest(
        on("web1", { waitedMs: 12 * MINUTE }),
        on("db1", { ...disk, ...RESOLVED }),
        on("web2", { isRepeat: true }),
      ),
    ).toBe(
      [
        "📋 *3 alertas nesta mensagem* · 2 ativos · 1 resolvido",
        "Mais antigo enviado com 12 min de atraso",
        "2 × Traefik RAM Alta",
        "1 × Disco Raiz Baixo",
        "",
        "🟡 Traefik RAM Alta · web1 · 05:15",
        "✅ Disco Raiz Baixo · db1 · 05:15–05:19",
        "🟡 Traefik RAM Alta · web2 · desde 05:15",
      ].join("\n"),
    );
  });

  test("has an alert and its end in one line, and says how often one came and went", () => {
    expect(tail(digest(on("web1"), on("web2"), on("web1", RESOLVED)))).toEqual([
      "✅ Traefik RAM Alta · web1 · 05:15–05:19",
      "🟡 Traefik RAM Alta · web2 · 05:15",
    ]);
    expect(tail(digest(on("web1"), on("web1", RESOLVED), on("web1")))).toEqual([
      "🟡 Traefik RAM Alta · web1 · 05:15 (3 avisos)",
    ]);
  });

  test("says how many alerts the platform left out of a post, as their own messages would", () => {
    const cut = [on("web1", { truncatedAlerts: 15 }), on("web2", { truncatedAlerts: 15 }), on("web3")];
    expect(digest(...cut).split("\n")[1]).toBe("+15 alertas não mostrados");
  });

  test("says what was e-mailed while WhatsApp took nothing", () => {
    const text = renderDigest([on("web1")], { nowMs, note: { emailed: 2, undelivered: 0 } });
    expect(text.split("\n")[1]).toBe("Enquanto o WhatsApp não recebia: 2 alertas avisados por e-mail");
  });

  test("marks a rule that could not be evaluated", () => {
    const labels = { alertname: "DatasourceError", rulename: "Disco", instance: "main", ref_id: "A" };
    expect(tail(digest(entry({ name: "Disco", labels })))).toEqual([
      "⚠️ Disco não pôde ser avaliado · main · 05:15",
    ]);
  });

  test("does not count as resolved what has ended without a measurement", () => {
    const gone = entry({ name: "Disco", status: "resolved", firing: false, reason: "NoData" });
    expect(digest(gone)).toStartWith("📋 *1 alerta nesta mensagem* · 1 encerrado sem medição\n");
    expect(tail(digest(gone))[0]).toStartWith("⚠️ Disco encerrado sem medição · ");
  });

  test.each<[string, Parts]>([
    ["encerrado sem medição", { status: "resolved", firing: false, reason: "NoData" }],
    ["não pôde ser avaliado", { labels: { alertname: "DatasourceError", rulename: "x", instance: "main" } }],
  ])("cuts a very long name, never the words %p behind it", (words, parts) => {
    const of = (i: number) => entry({ ...parts, fingerprint: `${i}`, name: `${i} ${"nome ".repeat(500)}` });
    expect(tail(digest(of(0)))[0]).toContain(` nome… ${words} · `);
    const crowd = tail(digest(...Array.from({ length: 40 }, (_, i) => of(i))));
    expect(crowd).toHaveLength(40);
    for (const line of crowd) expect(line).toContain(`… ${words} · `);
  });

  test("adds to lines that would look alike what distinguishes them", () => {
    const of = (fingerprint: string, labels: Record<string, string>) =>
      entry({ fingerprint, labels: { instance: "main", ...labels } });
    expect(tail(digest(of("1", { mountpoint: "/" }), of("2", { mountpoint: "/var" })))).toEqual([
      "🟡 Traefik RAM Alta · main · / · 05:15",
      "🟡 Traefik RAM Alta · main · /var · 05:15",
    ]);
    const folders = tail(digest(of("1", { grafana_folder: "a" }), of("2", { grafana_folder: "b" })));
    for (const line of folders) expect(line).toMatch(/ · main · #[b-v]{8} · 05:15$/);
    expect(new Set(folders).size).toBe(2);
  });

  test("has two lines for alerts that share a fingerprint, but not their labels", () => {
    expect(tail(digest(on("web1"), on("web2", { fingerprint: "web1" })))).toHaveLength(2);
  });

  test("counts the rules beyond the eighth together", () => {
    const rules = Array.from({ length: 12 }, (_, i) => on(`h${i}`, { name: `Regra ${i}` }));
    const lines = digest(...rules, on("h12", { name: "Regra 11" })).split("\n");
    expect(lines[1]).toBe("2 × Regra 11");
    expect(lines[9]).toBe("4 de 4 outras regras");
    expect(lines[10]).toBe("");
  });

  test("has room for forty alerts whatever they are", () => {
    const long = (i: number) =>
      on(`${i}`.repeat(2000), {
        name: `${i} ${"nome ".repeat(500)}`,
        startsAt: "2025-12-31T12:00:00Z",
        waitedMs: 1e12,
        ...(i % 2 === 0 ? { status: "resolved", firing: false, endsAt: "2026-01-01T12:00:00Z" } : {}),
      });
    const entries = Array.from({ length: 40 }, (_, i) => [long(i), long(i), long(i)]).flat();
    const text = renderDigest(entries, { nowMs, note: { emailed: 1e12, undelivered: 1e12 } });
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(tail(text)).toHaveLength(40);
    expect(new Set(tail(text)).size).toBe(40);
    for (const [i, line] of tail(text).entries())
      expect(line).toStartWith(`${i % 2 ? "🟡" : "✅"} ${i} nome`);
  });

  test("is a line for each alert, without links, formatting and lines of the sender's, of anything", () => {
    const entries = fc.array(
      fc.record({ alert: anyAlert, isRepeat: fc.boolean(), waitedMs: fc.constantFrom(0, 1e9) }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(entries, (list) => {
        const text = renderDigest(list, { nowMs, note: NOTHING });
        expect(text.length).toBeLessThanOrEqual(4000);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/\w:\/\/\w/);
        const [head, lines, ...more] = text.split("\n\n");
        expect(more).toEqual([]);
        const different = new Set(
          list.map(({ alert }) => JSON.stringify([alert.fingerprint, Object.entries(alert.labels).sort()])),
        );
        expect(new Set(lines!.split("\n")).size).toBe(different.size);
        for (const line of lines!.split("\n")) expect(line).toMatch(/^(?:🔴|🟠|🟡|🔵|✅|⚪|⚠️) \S/u);
        for (const line of head!.split("\n").slice(1))
          expect(line).toMatch(/^(?:\d+ (?:×|de) |Mais antigo enviado |\+[\d.]+ alertas? não mostrados?$)/);
        expect(text.replace(/^📋 \*[^*\n]+\*/u, "")).not.toMatch(/`|(?<![\p{L}\p{N}])[*_~](?=\S)/u);
      }),
      { numRuns: 80 },
    );
  });
});
