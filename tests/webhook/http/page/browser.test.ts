/** The page as a browser shows it, served by the second port. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Listener, listen } from "../../../../lib/platform/server/server.ts";
import { createAdminApp } from "../../../../lib/webhook/http/admin.ts";
import type { PageFacts } from "../../../../lib/webhook/http/page/read-page.ts";
import { createWebhookMetrics } from "../../../../lib/webhook/metrics/metrics.ts";
import type { RecentAlert } from "../../../../lib/webhook/state/contract.ts";
import { type Chromium, findChromium, startChromium, type View } from "../../../support/chromium.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { busyNight, lostRow, NOW_MS, pageFacts, recentAlert, watchView } from "../../support/page-facts.ts";

const EVIL = [
  `<script>document.title="taken"</script><img src=x onerror="document.title='taken'">`,
  `"><style>body{display:none}</style><link rel=stylesheet href=http://127.0.0.1:9/x>`,
  `</title></td></table><iframe src="http://127.0.0.1:9/"></iframe><meta http-equiv=refresh content="0;url=/x">`,
  "A".repeat(200),
  "\u202Egnirif\u0000\u2028 \uD83D",
  "Z\u0351\u0363\u0348\u0316".repeat(50),
  "https://evil.example/ javascript:alert(1) @fulano",
  "﷽".repeat(60),
];

/** Two hundred alerts whose texts try to break out, as many as the page shows. */
function hostileNight(): PageFacts {
  const recent = Array.from({ length: 200 }, (_, at): RecentAlert => {
    const text = EVIL[at % EVIL.length]!;
    return recentAlert({
      acceptedAtMs: NOW_MS - at * 3_600_000,
      shown: { name: text, about: text, severity: text, status: text, firing: at % 2 === 0 },
      message: { status: at % 3 === 0 ? "dead" : "queued", code: text, endedAtMs: NOW_MS, isEmailed: true },
      issue: { status: at % 5 === 0 ? "delivered" : "dead", code: text, url: text },
    });
  });
  const lost = EVIL.map((text) => lostRow({ alertname: text, code: text }));
  const stops = { message: EVIL[0]!, issue: EVIL[3]!, comment: EVIL[5]! };
  return pageFacts({
    stops,
    state: { recent, lost, hours: Array.from({ length: 192 }, (_, at) => at ** 3) },
  });
}

const VIEWS: View[] = [360, 1_280].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => ({ width, scheme })),
);
const program = findChromium();

let browser: Chromium;
let listener: Listener;
let facts: PageFacts;

function adminApp() {
  const state = () => facts.state!;
  return createAdminApp({
    state: {
      stats: async () => ({
        ...state().stats,
        message: { ...state().stats.message, dead: state().lost!.length },
      }),
      check: async () => {},
      holds: async () => state().holds,
      recent: async () => state().recent,
      hourly: async () => state().hours,
      listDead: async () => state().lost!,
      movedAside: null,
    },
    watch: { view: watchView({ gatewayOpen: null, gatewayForMs: 0 }) },
    posts: { view: { acceptedAt: null, secretRefusedAt: null } },
    dispatcher: {
      isLeading: true,
      get stops() {
        return facts.stops;
      },
    },
    metrics: createWebhookMetrics({ version: "test" }),
    log: silentLog,
    isStopping: () => false,
    nowMs: () => NOW_MS,
    monotonicMs: () => 0,
  });
}

if (program === null) test.skip("the page in a browser: not tried, there is no Chromium", () => {});
else
  describe("the page in a browser", () => {
    beforeAll(async () => {
      listener = await listen({ host: "127.0.0.1", port: 0, fetch: adminApp().fetch });
      browser = await startChromium(program);
    });

    afterAll(async () => {
      await browser?.stop();
      await listener?.stop(0);
    });

    describe.each([
      ["a busy night", busyNight],
      ["a quiet night", pageFacts],
      ["hostile alerts", hostileNight],
    ])("%s", (_what, factsOf) => {
      test.each(VIEWS)("is whole, quiet and loads nothing else at $width px, $scheme", async (view) => {
        facts = factsOf();
        const url = `http://127.0.0.1:${listener.port}/`;
        const page = await browser.show(url, view);
        expect(page.complaints).toEqual([]);
        expect(page.requests.filter((each) => !each.startsWith("data:"))).toEqual([url]);
        expect(await page.evaluate<string>("document.title")).toMatch(/^[\p{L} ]+ · alarme$/u);
        // Nothing is wider than the screen.
        expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(view.width);
        expect(
          await page.evaluate<number>("document.querySelectorAll('script,iframe,img,[style]').length"),
        ).toBe(0);
        expect(await page.evaluate<number>("document.styleSheets.length")).toBe(1);
        const background = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
        expect(background).toBe(view.scheme === "dark" ? "rgb(11, 18, 21)" : "rgb(241, 244, 245)");
      });
    });
  });
