import { describe, expect, test } from "bun:test";
import { cardView } from "../../../lib/weekly/email/card.ts";
import { figuresOf } from "../../../lib/weekly/email/figures/figures.ts";
import type { Channel, ChannelName } from "../../../lib/weekly/payload.ts";
import { emailChannel } from "../../../lib/weekly/report/email-channel.ts";
import {
  available,
  EMAIL_METRICS,
  EMAIL_METRICS_BEFORE,
  emailOf,
  unavailable,
} from "../../fixtures/payloads.ts";

const card = (name: ChannelName, channel: Channel, isFirst = false) =>
  cardView(name, channel, figuresOf(name, channel), { isFirst, wasPartial: false, maxSmall: 11 });
const labels = (figures: { label: string }[]) => figures.map(({ label }) => label);

const WEEK = { start: "2026-11-16T03:00:00Z", end: "2026-11-23T03:00:00Z" };

const ZEROS = { bounced: 0, complained: 0, failed: 0, delayed: 0, suppressed: 0, noEvent: 0 };

describe("cardView()", () => {
  test.each([
    [
      "email",
      { sends: 5, openRate: 0.5, clickRate: 0.1, deliveryRate: 1 },
      ["Taxa de abertura", "Taxa de cliques", "Enviados"],
    ],
    [
      "email",
      { sends: 5, openRate: null, clickRate: null, deliveryRate: 1 },
      ["Enviados", "Taxa de entrega"],
    ],
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
    ["linkedin", {}, []],
  ] as const)("shows of %s %p three figures in large at most", (name, metrics, expected) => {
    expect(labels(card(name, available(metrics, [])).main)).toEqual([...expected]);
  });

  test("folds measured zeros of trouble into one line", () => {
    const { zeros, small } = card("email", available({ sends: 5, bounceRate: 0, ...ZEROS }, []));
    expect(zeros).toBe(
      "Sem problemas de entrega: 0 devolvidos, 0 spam, 0 falhas no envio, 0 atrasados, 0 bloqueados, 0 sem informação de entrega",
    );
    expect(small).toEqual([]);
  });

  test.each([
    [
      { complained: 0, suppressed: 0 },
      { complained: 0, suppressed: 0 },
      "Sem problemas de entrega: 0 spam, 0 bloqueados, como na semana anterior",
    ],
    [
      { complained: 0, suppressed: 0 },
      { complained: 0 },
      "Sem problemas de entrega: 0 spam (igual), 0 bloqueados",
    ],
    [{ complained: 0, suppressed: 2 }, null, "Nenhum caso: 0 spam"],
    [{ complained: 0, suppressed: null }, null, "Nenhum caso: 0 spam"],
    [{ complained: 0, bounced: 0 }, { bounced: 3 }, "Nenhum caso: 0 spam"],
    [{ complained: null }, null, null],
  ])("of %p after %p says %p", (metrics, previous, line) => {
    expect(card("email", { ...available(metrics, []), previous }).zeros).toBe(line);
  });

  test("keeps a zero that was none the week before, with its change", () => {
    const channel = {
      ...available({ sends: 1, openRate: 1, clickRate: 1, bounced: 0 }, []),
      previous: { bounced: 3 },
    };
    expect(card("email", channel).small).toMatchObject([
      { label: "Devolvidos", value: "0", change: { text: "3 a menos", tone: "good" } },
    ]);
  });

  test("names figures without data on one line, and counts those beyond it", () => {
    const metrics = Object.fromEntries(
      Array.from({ length: 11 }, (_, i) => [`figure_${String.fromCharCode(97 + i)}`, null]),
    );
    expect(card("instagram", available({ reach: 1, likes: null, saves: null }, [])).absent).toBe(
      "Sem dado: Curtidas e Salvamentos",
    );
    expect(card("instagram", available(metrics, [])).absent).toEndWith("Figure h e mais 3");
  });

  test.each([
    ["says nothing of a week that the report does not know", undefined, false, null],
    ["leaves it to one sentence above the cards where there is no report", null, true, null],
    [
      "says once that the channel had no figures",
      null,
      false,
      "Sem comparação: o relatório da semana anterior não tem números desta conta.",
    ],
    [
      "says the same where all of them are absent",
      { reach: null },
      false,
      "Sem comparação: o relatório da semana anterior não tem números desta conta.",
    ],
    ["says nothing where figures say it for themselves", { likes: 3 }, false, null],
  ])("%s", (_what, previous, isFirst, comparison) => {
    const channel = { ...available({ reach: 1 }, []), ...(previous === undefined ? {} : { previous }) };
    const shown = card("instagram", channel, isFirst);
    expect(shown.comparison).toBe(comparison);
    expect(shown.main[0]!.change?.text ?? null).toBe(
      previous && "likes" in previous ? "sem comparação" : null,
    );
  });

  test("compares no rates of e-mails with those of a report that counted them otherwise", () => {
    const { main, small } = card("email", { ...emailOf(EMAIL_METRICS), previous: EMAIL_METRICS_BEFORE });
    const rates = [...main, ...small].filter(({ key }) => key.endsWith("_rate"));
    expect(rates.map(({ change }) => change!.trend)).toEqual(["unknown", "unknown", "unknown", "unknown"]);
    expect(main.find(({ key }) => key === "sends")!.change!.trend).toBe("flat");
  });

  test.each([
    // 16 of 84 are 19.048%: rounded to the stored 0.1905 and then again, they would be 19.1%.
    [
      { sends: 84, clicked: 16, bounced: 0 },
      { click_rate: "19,0%", bounce_rate: "0,0%" },
    ],
    [
      { sends: 1_000_000, clicked: 1, bounced: 1 },
      { click_rate: "menos de 0,1%", bounce_rate: "menos de 0,1%", delivery_rate: "mais de 99,9%" },
    ],
    [
      { sends: 1_000_000, clicked: 0, bounced: 0 },
      { click_rate: "0,0%", delivery_rate: "100,0%" },
    ],
  ])("says of %j each rate as its counts give it", ({ sends, clicked, bounced }, rates) => {
    const none = { delivered: 0, opened: 0, complained: 0, failed: 0, delayed: 0, suppressed: 0 };
    const delivered = sends - bounced;
    const counts = { ...none, clicked, bounced, reached: { delivered, opened: clicked, clicked } };
    const email = emailChannel({ sends, events: sends, ...counts }, WEEK);
    const shown = figuresOf("email", email).map(({ key, value }) => [key, value]);
    expect(Object.fromEntries(shown)).toMatchObject(rates);
  });

  test("keeps a stored rate that the counts beside it do not give", () => {
    const metrics = { ...EMAIL_METRICS, sends: 39, openRate: 0.25 };
    const rate = figuresOf("email", emailOf(metrics)).find(({ key }) => key === "open_rate");
    expect(rate!.value).toBe("25,0%");
  });

  test("is one line for a channel without an integration alone", () => {
    expect(card("blog", unavailable("not_integrated"))).toMatchObject({
      isLine: true,
      note: "Ainda sem integração",
    });
    expect(card("blog", unavailable("not_connected")).isLine).toBe(false);
  });
});
