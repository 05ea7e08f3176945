/** The cards of the channels: which figures, in which size, and what stands in the place of those that are missing. */
import { describe, expect, test } from "bun:test";
import type { Channel, ChannelName, Payload } from "../../../lib/weekly/payload.ts";
import {
  available,
  EMAIL_METRICS,
  EMAIL_METRICS_BEFORE,
  emailOf,
  payloadOf,
  unavailable,
} from "../../fixtures/payloads.ts";
import { elementsIn, htmlTree } from "../support/html-tree.ts";
import { type ShownEmail, showEmail } from "../support/shown-email.ts";

type Since = Partial<Payload["provenance"]>;

const emailWith = (name: ChannelName, channel: Channel, since: Since = {}): ShownEmail =>
  showEmail(payloadOf({ channels: { [name]: channel } as Partial<Payload["channels"]>, since }));

const CHANNEL = { email: "E-mail", instagram: "Instagram", linkedin: "LinkedIn" };
const lines = (name: keyof typeof CHANNEL, channel: Channel, since?: Since) =>
  emailWith(name, channel, since).card(CHANNEL[name]);

/** The figures of a card by name: value, and change behind it. */
const figures = (card: string[]): Record<string, string> =>
  Object.fromEntries(
    card.flatMap((line) =>
      [...line.matchAll(/^- ([^:]+): (.*)$/g)].map(([, name, value]) => [name!, value!]),
    ),
  );

/** The names of the figures that the HTML shows large. */
function large({ html }: ShownEmail): string[] {
  const cells = [...elementsIn(htmlTree(html))].filter(
    ({ tag, attributes }) => tag === "td" && attributes.width?.endsWith("%"),
  );
  return cells.map(({ children }) => (children[1] as { children: string[] }).children[0]!);
}

const WITHOUT_TROUBLE = { bounced: 0, complained: 0, failed: 0, delayed: 0, suppressed: 0, noEvent: 0 };
const MAIN = { sends: 40, openRate: 0.5, clickRate: 0.1 };
const ZEROS =
  "0 devolvidos, 0 spam, 0 falhas no envio, 0 atrasados, 0 bloqueados, 0 sem informação de entrega";

describe("the large figures of a card", () => {
  const week = (sends: number) => {
    const reached = { delivered: sends, opened: 10, clicked: 1 };
    return { ...EMAIL_METRICS, sends, noEvent: 0, openRate: 10 / sends, clickRate: 1 / sends, reached };
  };

  test.each<[keyof typeof CHANNEL, Payload["channels"]["email"]["metrics"], string[]]>([
    [
      "email",
      { sends: 20, openRate: 0.5, clickRate: 0.1, deliveryRate: 1 },
      ["Taxa de abertura", "Taxa de cliques", "Enviados"],
    ],
    [
      "email",
      { sends: 20, openRate: null, clickRate: null, deliveryRate: 1 },
      ["Enviados", "Taxa de entrega"],
    ],
    ["email", { sends: 20, bounced: 3 }, ["Enviados"]],
    ["email", week(19), ["Abertos", "Com clique", "Enviados"]],
    ["email", week(20), ["Taxa de abertura", "Taxa de cliques", "Enviados"]],
    [
      "instagram",
      { likes: 4, reach: 9, followers: 2, engagementRate: 0.1 },
      ["Seguidores", "Alcance", "Taxa de engajamento"],
    ],
    [
      "instagram",
      { impressions: 4, newFollowers: 9, likes: 2, saves: 1 },
      ["Novos seguidores", "Impressões", "Curtidas"],
    ],
    ["linkedin", { zeta: 1, alpha: 2, beta: null, gamma: 3, delta: 4 }, ["Alpha", "Delta", "Gamma"]],
    ["linkedin", { reach: null }, []],
  ])("the figures of %s with %j are %j", (name, metrics, expected) => {
    const channel = { ...available({}, []), metrics } as Channel;
    expect(large(emailWith(name, channel))).toEqual(expected);
  });
});

describe("the line of zeros in the card of e-mails", () => {
  const zeros = (metrics: object, previous?: object) =>
    lines("email", {
      ...available({ ...MAIN, ...metrics }, []),
      ...(previous && { previous: { ...MAIN, ...previous } }),
    })
      .filter((line) => /^(Sem problemas|Nenhum caso)/.test(line))
      .join();

  test.each<[object, object | undefined, string]>([
    // "None" needs every kind of trouble to be measured.
    [WITHOUT_TROUBLE, undefined, `Sem problemas de entrega: ${ZEROS}`],
    [{ complained: 0, suppressed: 0 }, undefined, "Sem problemas de entrega: 0 spam, 0 bloqueados"],
    [{ complained: 0, suppressed: 2 }, undefined, "Nenhum caso: 0 spam"],
    [{ complained: 0, suppressed: null }, undefined, "Nenhum caso: 0 spam"],
    [{ complained: null }, undefined, ""],
    // As before only where that was measured; what was none the week before is news.
    [WITHOUT_TROUBLE, WITHOUT_TROUBLE, `Sem problemas de entrega: ${ZEROS}, como na semana anterior`],
    [
      { complained: 0, suppressed: 0 },
      { complained: 0 },
      "Sem problemas de entrega: 0 spam (igual), 0 bloqueados",
    ],
    [{ complained: 0, bounced: 0 }, { bounced: 3 }, "Nenhum caso: 0 spam"],
  ])("the line of zeros of %j after %j is %p", (metrics, previous, line) => {
    expect(zeros(metrics, previous)).toBe(line);
  });

  test("leaves out a figure that was not zero the week before, with its change", () => {
    const channel = { ...available({ ...MAIN, ...WITHOUT_TROUBLE, bounceRate: 0 }, []) };
    const after = (previous: object) =>
      figures(lines("email", { ...channel, previous: { ...MAIN, ...previous } }));
    expect(after({ bounced: 3 })).toMatchObject({ Devolvidos: "0 (3 a menos)" });
    expect(after({ bounceRate: 0.03 })).toMatchObject({ "Taxa de devolução": "0,0% (3,0 p.p. a menos)" });
    expect(after({ bounceRate: 0 })).not.toHaveProperty("Taxa de devolução");
    // Without a number of bounces the rate is all that is known of them.
    const unknown = { ...MAIN, ...WITHOUT_TROUBLE, bounced: null, bounceRate: 0 };
    expect(figures(lines("email", available(unknown, [])))).toMatchObject({ "Taxa de devolução": "0,0%" });
  });

  test("is about e-mails only: a network's figure of the same name is a figure like others", () => {
    const three = { followers: 10, reach: 20, engagementRate: 0.1 };
    const channel = {
      ...available({ ...three, failed: 0, delayed: 4 }, []),
      previous: { failed: 0, delayed: 1 },
    };
    const card = lines("instagram", channel);
    expect(figures(card)).toMatchObject({ Failed: "0 (igual)", Delayed: "4 (3 a mais)" });
    expect(card.join()).not.toMatch(/Sem problemas|Nenhum caso/);
  });
});

describe("figures without data", () => {
  test("are named on one line, and counted beyond eight", () => {
    const eleven = Object.fromEntries([..."abcdefghijk"].map((letter) => [`figure_${letter}`, null]));
    expect(lines("instagram", available({ reach: 1, likes: null, saves: null }, []))).toContain(
      "Sem dado: Curtidas e Salvamentos",
    );
    expect(lines("instagram", available(eleven, [])).at(-1)).toEndWith("Figure h e mais 3");
  });
});

describe("a card that cannot compare", () => {
  const NO_FIGURES = "Sem comparação: o relatório da semana anterior não tem números desta conta.";
  const WITH_CARE = "Compare com cuidado: os dados da semana anterior estavam incompletos.";

  test.each<[string, Channel["previous"], Since, string[]]>([
    ["of a report that does not know the week before says nothing", undefined, {}, ["- Alcance: 1"]],
    [
      "a card without a report of the week before leaves it to one sentence above",
      null,
      { previousReportId: null },
      ["- Alcance: 1"],
    ],
    ["whose account had no figures says so", null, {}, ["- Alcance: 1", NO_FIGURES]],
    ["says the same where all of them are missing", { reach: null }, {}, ["- Alcance: 1", NO_FIGURES]],
    ["leaves it to its figures where others have one", { likes: 3 }, {}, ["- Alcance: 1 (sem comparação)"]],
    [
      "after partial data says so",
      { reach: 1 },
      { previousPartialChannels: ["instagram"] },
      ["- Alcance: 1 (igual)", WITH_CARE],
    ],
  ])("%s", (_what, previous, since, card) => {
    const channel = { ...available({ reach: 1 }, []), ...(previous === undefined ? {} : { previous }) };
    expect(lines("instagram", channel, since)).toEqual(card);
  });

  test("says it once for all cards where there is no report of the week before", () => {
    const { text } = emailWith(
      "instagram",
      { ...available({ reach: 1 }, []), previous: null },
      { previousReportId: null },
    );
    expect(text).toContain(
      "Não há relatório da semana anterior: as comparações dos canais começam no próximo.\n",
    );
  });
});

describe("the rates of e-mails", () => {
  test.each([
    // 16 of 84 are 19.048%: rounded to the stored 0.1905 and then again, they would be 19.1%.
    [
      { sends: 84, clicked: 16, bounced: 0 },
      { clickRate: 0.1905, bounceRate: 0 },
      { "Taxa de cliques": "19,0%", "Taxa de devolução": "0,0%" },
    ],
    [
      { sends: 1_000_000, clicked: 1, bounced: 1 },
      { clickRate: 0, bounceRate: 0, deliveryRate: 1 },
      {
        "Taxa de cliques": "menos de 0,1%",
        "Taxa de devolução": "menos de 0,1%",
        "Taxa de entrega": "mais de 99,9%",
      },
    ],
    [
      { sends: 1_000_000, clicked: 0, bounced: 0 },
      { clickRate: 0, deliveryRate: 1 },
      { "Taxa de cliques": "0,0%", "Taxa de entrega": "100,0%" },
    ],
  ])(
    "the rates of %j with the stored %j are as their counts give them",
    ({ sends, clicked, bounced }, rates, shown) => {
      const reached = { delivered: sends - bounced, opened: clicked, clicked };
      const metrics = { ...EMAIL_METRICS, ...rates, sends, bounced, noEvent: 0, reached };
      // Bounces the week before keep the rate of bounces out of the line of zeros.
      const previous = { ...EMAIL_METRICS, bounced: 3, bounceRate: 0.01 };
      const shownRates = figures(lines("email", { ...emailOf(metrics), previous }));
      const values = Object.fromEntries(
        Object.entries(shownRates).map(([name, value]) => [name, value!.replace(/ \(.*/, "")]),
      );
      expect(values).toMatchObject(shown);
    },
  );

  test("are the stored ones where the counts beside them do not give them", () => {
    const metrics = { ...EMAIL_METRICS, sends: 39, openRate: 0.25 };
    expect(figures(lines("email", emailOf(metrics)))).toMatchObject({ "Taxa de abertura": "25,0%" });
  });

  test("are not compared with those of a report that counted them of all sends", () => {
    const email = { ...emailOf(EMAIL_METRICS), previous: { ...EMAIL_METRICS_BEFORE, openRate: 0.1 } };
    const { card, readings } = emailWith("email", email);
    expect(figures(card("E-mail"))).toMatchObject({
      "Taxa de abertura": "44,3% (sem comparação)",
      "Taxa de cliques": "11,6% (sem comparação)",
      "Taxa de entrega": "96,5% (sem comparação)",
      "Taxa de devolução": "2,0% (sem comparação)",
      Abertos: "536 (sem comparação)",
      Enviados: "1.250 (igual)",
      Devolvidos: "24 (igual)",
    });
    expect(readings.join()).not.toContain("O que mais");
  });
});

test("only a channel without an integration is one line", () => {
  const { html } = emailWith("blog", unavailable("not_connected"));
  expect(html.match(/class="card card-line"/g)).toHaveLength(1);
  expect(emailWith("blog", unavailable("not_integrated")).text).toContain("\nBlog: ainda sem integração\n");
});
