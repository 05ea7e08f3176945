import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { pageAnswer } from "../../../../lib/webhook/http/page/page-answer.ts";
import type { PageFacts } from "../../../../lib/webhook/http/page/read-page.ts";
import type { RecentAlert } from "../../../../lib/webhook/state/contract.ts";
import { hostileText } from "../../support/alert.ts";
import { busyNight, lostRow, NOW_MS, pageFacts, recentAlert, watchView } from "../../support/page-facts.ts";

const textOf = async (facts: PageFacts) => await pageAnswer(facts).text();
const rowOf = async (alert: RecentAlert) => {
  const text = await textOf(pageFacts({ state: { recent: [alert] } }));
  return /<tbody>\n([\s\S]*?)<\/tbody>/.exec(text)![1]!;
};
/** What a person reads: without markup, each run of blanks one. */
const read = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

describe("pageAnswer()", () => {
  test("allows its own style sheet, the tab's picture, and nothing else", async () => {
    const answer = pageAnswer(busyNight());
    const policy = answer.headers.get("content-security-policy")!;
    const text = await answer.text();
    const [, sheet] = /<style>([\s\S]*?)<\/style>/.exec(text)!;
    const hash = createHash("sha256").update(sheet!).digest("base64");
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(text).not.toMatch(/<script|\son\w+=|\sstyle=|@import|url\(/i);
    expect(sheet).not.toMatch(/[&<>"]{2}|&(?:lt|gt|quot|amp|#39);/);
  });

  test("says the state in a word, also in the browser's tab", async () => {
    expect(await textOf(pageFacts())).toContain("<title>Tudo em ordem · alarme</title>");
    expect(await textOf(busyNight())).toContain("<title>Com problema · alarme</title>");
    const warned = await textOf(pageFacts({ isStopping: true }));
    expect(warned).toContain("<title>Atenção · alarme</title>");
    expect(warned).toContain("O serviço está encerrando.");
  });

  test.each<[boolean | null, string]>([
    [true, "conectada há 2 h"],
    [false, "desconectada há 2 h"],
    [null, "não se sabe há 2 h"],
  ])("says whether the gateway's instance is connected (%p), and for how long", async (isOpen, said) => {
    const text = await textOf(
      pageFacts({ watch: watchView({ gatewayOpen: isOpen, gatewayForMs: 2 * 3_600_000 }) }),
    );
    expect(read(text)).toContain(`Instância do gateway ${said}`);
  });

  test("is 503 while the state is away, and shows what is known without it", async () => {
    const facts = pageFacts({
      state: null,
      latest: {
        ...pageFacts().latest,
        message: { deliveredAtMs: null, failure: { code: "gateway_timeout", atMs: NOW_MS - 5_000 } },
      },
    });
    expect(pageAnswer(facts).status).toBe(503);
    expect(read(await textOf(facts))).toContain("Último erro há 5 s gateway_timeout");
  });

  test.each<[string, Partial<RecentAlert>, string]>([
    ["sent", {}, "03:07 Disco Raiz Baixo · main Crítico · infra · disparado enviada em 1 s OPS-7"],
    [
      "sent late and e-mailed",
      { message: { status: "delivered", code: null, endedAtMs: NOW_MS, isEmailed: true } },
      "enviada em 5 min também por e-mail OPS-7",
    ],
    [
      "queued",
      { message: { status: "queued", code: "gateway_timeout", endedAtMs: null, isEmailed: false } },
      "na fila há 5 min gateway_timeout OPS-7",
    ],
    [
      "given up",
      { message: { status: "dead", code: "meta_100", endedAtMs: NOW_MS, isEmailed: false } },
      "desistida meta_100 OPS-7",
    ],
    [
      "in doubt",
      { message: { status: "in_doubt", code: "gateway_timeout", endedAtMs: NOW_MS, isEmailed: false } },
      "em dúvida gateway_timeout OPS-7",
    ],
    ["without an issue", { issue: null }, "enviada em 1 s"],
    ["with an issue of no link", { issue: { status: "delivered", code: null, url: null } }, "criada"],
    [
      "with an issue of another tracker",
      { issue: { status: "delivered", code: null, url: "https://example.com/7" } },
      "criada",
    ],
    [
      "with an issue that leads elsewhere",
      { issue: { status: "delivered", code: null, url: "javascript:alert(1)" } },
      "criada",
    ],
    [
      "with a refused issue",
      { issue: { status: "dead", code: "tracker_input_refused", url: null } },
      "desistida tracker_input_refused",
    ],
    ["with a waiting issue", { issue: { status: "queued", code: null, url: null } }, "na fila"],
  ])("shows an alert %s", async (_what, changes, expected) => {
    const row = await rowOf(recentAlert(changes));
    expect(read(row).endsWith(expected)).toBe(true);
    expect(row).not.toContain("javascript:");
  });

  test("shows an alert of which nothing is known", async () => {
    const shown = { name: null, status: null, severity: null, about: "", firing: false };
    expect(read(await rowOf(recentAlert({ shown, issue: null })))).toBe(
      "03:07 sem nome infra · sem estado enviada em 1 s",
    );
  });

  test("does not call well what has ended without a measurement", async () => {
    const shown = { status: "resolved", firing: false, reason: "NoData" } as const;
    const row = await rowOf(recentAlert({ shown }));
    expect(read(row)).toContain("· encerrado ");
    expect(row).toContain('class="dot other"');
  });

  test("shows comments once there are any", async () => {
    expect(await textOf(pageFacts())).not.toContain("Comentários");
    expect(await textOf(busyNight())).toContain("Comentários");
  });

  test("names the command where too much was given up to list it", async () => {
    const text = read(await textOf(pageFacts({ state: { lost: null } })));
    expect(text).toContain("opsctl webhook dead list São muitos para esta página.");
  });

  test("hostile texts stay texts: the page has the same elements as with plain ones", async () => {
    const pageOf = (text: string) =>
      textOf(
        pageFacts({
          state: {
            recent: [
              recentAlert({
                shown: { name: text, status: text, severity: text, about: text, firing: false },
                message: { status: "dead", code: text, endedAtMs: NOW_MS, isEmailed: false },
                issue: { status: "dead", code: text, url: text },
              }),
            ],
            lost: [lostRow({ alertname: text, code: text })],
          },
          latest: {
            ...pageFacts().latest,
            message: { deliveredAtMs: null, failure: { code: text, atMs: 0 } },
          },
          stops: { message: text, issue: null, comment: null },
        }),
      );
    const elements = (page: string) =>
      page.match(/<\/?[a-z!][^>]*>/gi)!.map((tag) => tag.replace(/".*?"/g, ""));
    const plain = elements(await pageOf("x"));
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        const found = elements(await pageOf(`x${text}`));
        expect(found).toEqual(plain);
      }),
      { numRuns: 100 },
    );
  });
});
