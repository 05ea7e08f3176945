/** The status page as a browser shows it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { trackerError } from "../../standins/tracker.ts";
import { type Chromium, findChromium, startChromium, type View } from "../../support/chromium.ts";
import { requires } from "../../support/requires.ts";
import { alertOf, type Service, startService } from "../support/start-service.ts";

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

function refuseIssues({ tracker }: Service): void {
  tracker.routes.graphql.script = () =>
    trackerError(400, "refused", { type: "invalid input", code: "INPUT_ERROR", userError: true });
}

/** What happens before the page is read. */
const NIGHTS: Record<string, (service: Service) => Promise<unknown>> = {
  "a quiet night": async () => {},
  "a busy night": async (service) => {
    await service.post(["Disco", "RAM", "Load"].map((name) => alertOf(name)));
    service.gateway.instances.set("ops", "close");
    refuseIssues(service);
    await service.post(["SSH", "CPU"].map((name) => alertOf(name)));
    await service.advance(60_000);
  },
  "hostile alerts": async (service) => {
    refuseIssues(service);
    const hostile = Array.from({ length: 40 }, (_, at) => {
      const text = EVIL[at % EVIL.length]!;
      const labels = { alertname: text, severity: text, instance: text };
      return alertOf({ labels, ...(at % 2 === 0 && { status: text }) });
    });
    await service.post(hostile);
  },
};

const VIEWS: View[] = [360, 1_280].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => ({ width, scheme })),
);

requires("chromium").describe("the status page in a browser", () => {
  let browser: Chromium;
  beforeAll(async () => {
    browser = await startChromium(findChromium()!);
  });
  afterAll(() => browser?.stop());

  test.each(Object.keys(NIGHTS))("is whole, quiet and loads nothing else after %s", async (night) => {
    await using service = await startService();
    await NIGHTS[night]!(service);
    for (const view of VIEWS) {
      const url = `${service.adminUrl}/`;
      const page = await browser.show(url, view);
      expect(page.complaints).toEqual([]);
      expect(page.requests.filter((each) => !each.startsWith("data:"))).toEqual([url]);
      expect(await page.evaluate<string>("document.title")).toMatch(/^[\p{L} ]+ · alarme$/u);
      // Nothing is wider than the screen.
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(view.width);
      const alien = "document.querySelectorAll('script,iframe,img,[style]').length";
      expect(await page.evaluate<number>(alien)).toBe(0);
      expect(await page.evaluate<number>("document.styleSheets.length")).toBe(1);
      const background = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      expect(background).toBe(view.scheme === "dark" ? "rgb(11, 18, 21)" : "rgb(241, 244, 245)");
    }
  });
});
