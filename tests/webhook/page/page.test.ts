/** The status page, read over HTTP after what it has to show. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { trackerError } from "../../standins/tracker.ts";
import { contrast } from "../../support/contrast.ts";
import { requires } from "../../support/requires.ts";
import { hostileText } from "../support/alert.ts";
import { PHONE } from "../support/settings.ts";
import {
  alertOf,
  MINUTE_MS,
  type Service,
  type ServiceOptions,
  startService,
} from "../support/start-service.ts";

/** What a person reads: without markup and style, each run of blanks one. */
function readOf(page: string): string {
  return page
    .replace(/<style>[\s\S]*?<\/style>/, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

const page = async (service: Service) => (await service.get("/")).text;
/** The row of the newest alert. */
const newestRow = (text: string) => /Últimos alertas[\s\S]*?<tbody>\n(<tr>[\s\S]*?<\/tr>)/.exec(text)![1]!;

const critical = (name: string) => alertOf(name, { labels: { severity: "critical" } });

type Row = {
  name: string;
  options?: ServiceOptions;
  happens(service: Service): Promise<unknown>;
  /** What the tab of the browser and the page's head say. */
  verdict: "Tudo em ordem" | "Atenção" | "Com problema";
  says: (string | RegExp)[];
  saysNot?: string[];
};

/** The gateway knows no such number, which somebody may put right within a day. */
const waiting = async (service: Service, alert: object, minutes: number) => {
  service.gateway.absentNumbers.add(PHONE);
  await service.post([alert]);
  await service.advance(minutes * MINUTE_MS);
};
/** The tracker refuses an issue for good. */
const refuseIssues = (service: Service) => {
  service.tracker.routes.graphql.script = () => trackerError(400, "refused", INPUT);
};
const INPUT = { type: "invalid input", code: "INPUT_ERROR", statusCode: 400, userError: true };

const ROWS: Row[] = [
  {
    name: "a quiet night",
    happens: (service) => service.advance(2 * MINUTE_MS),
    verdict: "Tudo em ordem",
    says: [
      ...["Nada parado, recusado ou perdido.", /Instância do gateway conectada há \d min/],
      ...[
        "WhatsApp em dia",
        "Na fila 0",
        "Última entrega nenhuma desde a inicialização",
        "Nenhum alerta até agora.",
      ],
    ],
  },
  {
    name: "an alert that was sent, with the link of its issue",
    happens: (service) => service.post([critical("Disco")]),
    verdict: "Tudo em ordem",
    says: [
      /11:00 Disco Crítico · infra · disparado enviada em menos de 1 s [A-Z]+-\d+/,
      "Última entrega agora",
    ],
  },
  {
    name: "an end, with a comment on its issue",
    options: { comments: true },
    happens: async (service) => {
      await service.post([alertOf("Disco")]);
      await service.post([alertOf("Disco", { status: "resolved" })]);
      await service.advance(MINUTE_MS);
    },
    verdict: "Tudo em ordem",
    says: ["Comentários em dia", "Disco Aviso · infra · resolvido enviada em"],
  },
  {
    name: "an end without a measurement, which is not called well",
    happens: (service) =>
      service.post([
        alertOf("Disco", { status: "resolved", annotations: { grafana_state_reason: "NoData" } }),
      ]),
    verdict: "Tudo em ordem",
    says: ["Disco Aviso · infra · encerrado enviada"],
  },
  {
    name: "an alert of which nothing is known",
    happens: (service) => service.post({ alerts: [{ labels: {} }] }),
    verdict: "Tudo em ordem",
    says: ["sem nome geral · sem estado enviada em"],
  },
  {
    name: "a gateway that refuses",
    options: { key: "wrong" },
    happens: (service) => service.post([alertOf("Disco")]),
    verdict: "Com problema",
    says: [
      "O gateway recusa as mensagens (gateway_unauthorized): o envio está pausado. O que fazer: opsctl doctor webhook",
      ...["WhatsApp recusa", /na fila há \S+( s| de 1 s)? gateway_unauthorized/],
    ],
  },
  {
    name: "a message that waits for three minutes",
    happens: (service) => waiting(service, alertOf("Disco"), 3),
    verdict: "Atenção",
    says: ["A mensagem mais antiga espera há 3 min.", "WhatsApp falhando", "Espera mais longa 3 min"],
  },
  {
    name: "a message that waits for eleven minutes",
    happens: (service) => waiting(service, alertOf("Disco"), 11),
    verdict: "Com problema",
    says: ["A mensagem mais antiga espera há 11 min."],
  },
  {
    name: "a critical alert that waits, shown in place of the slow message, and was e-mailed",
    options: { email: true },
    happens: (service) => waiting(service, critical("Disco"), 4),
    verdict: "Com problema",
    says: ["Um alerta crítico espera há 4 min.", "também por e-mail"],
    saysNot: ["A mensagem mais antiga"],
  },
  {
    name: "issues that are dead, the newest first",
    happens: async (service) => {
      refuseIssues(service);
      await service.post([alertOf("Disco")]);
      await service.advance(MINUTE_MS);
      await service.post([alertOf("RAM")]);
    },
    verdict: "Atenção",
    says: [
      "2 não entregues e 0 incertos: não há novas tentativas.",
      "Não entregues ou incertos opsctl webhook dead list",
      /11:01 RAM issue · infra não entregue tracker_input_refused 1 tentativa 11:00 Disco issue/,
      "enviada em menos de 1 s não entregue tracker_input_refused",
    ],
  },
  {
    name: "a message with an unknown result",
    happens: async (service) => {
      service.gateway.keepsMessages = false;
      service.gateway.routes.send.script = () => ({ accept: "drop" });
      await service.post([alertOf("Disco")]);
      await service.advance(30 * MINUTE_MS);
    },
    verdict: "Atenção",
    says: [
      "0 não entregues e 1 incerto: não há novas tentativas. Um incerto pode ter chegado: confira o celular antes.",
      "Para ver e decidir: opsctl webhook dead list",
      /incerta \w+ \d tentativas/,
    ],
    saysNot: ["dead retry"],
  },
  {
    name: "an instance that is not connected",
    happens: async (service) => {
      service.gateway.instances.set("ops", "close");
      await service.advance(2 * MINUTE_MS);
    },
    verdict: "Com problema",
    says: ["Instância do gateway desconectada", "O gateway recusa as mensagens"],
  },
  {
    name: "a state file that was quarantined",
    happens: async (service) => {
      await service.end();
      writeFileSync(join(service.directory, "state.db"), "garbage ".repeat(2_000));
      await service.restart();
    },
    verdict: "Atenção",
    says: ["O arquivo de estado não pôde ser lido na inicialização e foi renomeado."],
  },
];

describe("the status page shows", () => {
  test.each(ROWS.map((row) => [row.name, row] as const))("%s", async (_, row) => {
    await using service = await startService(row.options);
    await row.happens(service);
    const { status, text } = await service.get("/");
    expect(status).toBe(200);
    expect(text).toContain(`<title>${row.verdict} · alarme</title>`);
    const read = readOf(text);
    for (const said of row.says) expect(read).toMatch(said);
    for (const said of row.saysNot ?? []) expect(read).not.toContain(said);
  });

  test("a store that does not answer is shown with 503, and what is known without it", async () => {
    await using service = await startService({ store: "postgres", canFail: true, storeLimitMs: 300 });
    await service.post([alertOf("Disco")]);
    service.failStore();
    const { status, text } = await service.get("/");
    expect(status).toBe(503);
    expect(text).toContain("<title>Com problema · alarme</title>");
    const read = readOf(text);
    expect(read).toContain(
      "O banco do webhook não responde: não dá para saber o que está na fila. O log diz por quê: journalctl",
    );
    expect(read).toContain("Na fila desconhecido Última entrega");
    expect(read).not.toContain("DATABASE");
  });

  requires("mount").test("a full disk is shown: no alert can be kept", async () => {
    await using service = await startService({ canFail: true });
    service.failStore();
    const { status, text } = await service.get("/");
    expect([status, text.includes("Com problema")]).toEqual([200, true]);
    expect(readOf(text)).toContain("Nenhum alerta pode ser gravado agora: disco cheio");
  });

  test("how many alerts came in each hour of São Paulo, for seven days", async () => {
    await using service = await startService();
    const hours = (count: number) => service.advance(count * 60 * MINUTE_MS, 720 * MINUTE_MS);
    await service.post([alertOf("a"), alertOf("b")]);
    await hours(13);
    await service.post([alertOf("c")]);
    await hours(5 * 24);
    const text = await page(service);
    expect(readOf(text)).toContain("Alertas por hora, 7 dias 3 alertas; máximo 2 (seg 16/11, 11 h)");
    expect(text).toContain("<title>seg 16/11, 11 h: 2 alertas</title>");
    expect(text).toContain("<title>ter 17/11, 0 h: 1 alerta</title>");
    await hours(24);
    expect(readOf(await page(service))).toContain("7 dias 1 alerta; máximo 1 (ter 17/11, 0 h)");
  });
});

describe("the status page", () => {
  test("allows its own style sheet, the tab's picture, and nothing else", async () => {
    await using service = await startService();
    await service.post([alertOf("Disco")]);
    const answer = await fetch(service.adminUrl, { headers: { connection: "close" } });
    const text = await answer.text();
    const [, sheet] = /<style>([\s\S]*?)<\/style>/.exec(text)!;
    const hash = createHash("sha256").update(sheet!).digest("base64");
    expect(answer.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(text).not.toMatch(/<script|\son\w+=|\sstyle=|@import|url\(/i);
  });

  test("has the same elements whatever an alert says", async () => {
    await using service = await startService();
    // Each has an issue that is dead, and so is in both lists.
    refuseIssues(service);
    const tagsOf = async (text: string) => {
      const labels = { alertname: text, severity: text, instance: text, ruleGroup: text };
      await service.post([alertOf({ labels })]);
      const shown = await page(service);
      const rows = `${newestRow(shown)}${/Não entregues ou incertos[\s\S]*?<tbody>\n(<tr>[\s\S]*?<\/tr>)/.exec(shown)![1]}`;
      return rows.match(/<\/?[a-z!][^>]*>/gi)!.map((tag) => tag.replace(/".*?"/g, ""));
    };
    const plain = await tagsOf("x");
    for (const text of fc.sample(hostileText, 40))
      expect(await tagsOf(`x${text.slice(0, 500)}`)).toEqual(plain);
  });

  test("leads to no issue but of a web address", async () => {
    await using service = await startService();
    const urls = ["https://example.com/7", "javascript:alert(1)"];
    for (const url of urls) {
      service.tracker.routes.graphql.scriptByBody = ({ body }) => {
        const { id } = (body as { variables: { input: { id: string } } }).variables.input;
        const issue = { id, identifier: "OPS-1", url };
        return { status: 200, json: { data: { issueCreate: { success: true, issue } } } };
      };
      await service.post([alertOf(url)]);
    }
    const text = await page(service);
    expect([...text.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href)).toEqual([urls[0]!]);
  });
});

describe("the colours of the status page", () => {
  /** What is read on what. */
  const PAIRS = [
    ...["ink", "muted", "link", "warn", "bad"].map((text) => [text, "panel"]),
    ...["ink", "muted"].map((text) => [text, "page"]),
    ...["ok", "warn", "bad"].flatMap((level) => [
      [level, `${level}-back`],
      ["ink", `${level}-back`],
    ]),
  ] as [string, string][];

  test("can be read on each other, in the light and in the dark", async () => {
    await using service = await startService();
    const schemes = [...(await page(service)).matchAll(/:root\{([^}]*)\}/g)].map(
      ([, rules]) =>
        new Map([...rules!.matchAll(/--([a-z-]+):(#[0-9a-f]+)/g)].map(([, name, value]) => [name!, value!])),
    );
    expect(schemes).toHaveLength(2);
    for (const colours of schemes)
      for (const [text, back] of PAIRS)
        expect([text, back, contrast(colours.get(text)!, colours.get(back)!) >= 4.5]).toEqual([
          text,
          back,
          true,
        ]);
  });
});
