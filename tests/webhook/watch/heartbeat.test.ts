/** The ping of OPSCTL_PING_URL: a check elsewhere hears each minute whether the alarm is well. */
import { describe, expect, test } from "bun:test";
import { loseStore, onFailingStores, startFailing } from "../support/failing-store.ts";
import { MINUTE_MS, type Service, startService } from "../support/start-service.ts";
import { critical, STEP_MS, setGateway } from "../support/two-channels.ts";

/** The pings of so many minutes from now on. */
async function pingsOf(service: Service, minutes: number, stepMs = STEP_MS): Promise<string> {
  const before = service.ping.pings.length;
  await service.advance(minutes * MINUTE_MS, stepMs);
  return service.ping.pings.slice(before).join(" ");
}

const problems = ({ log }: Service) =>
  log.filter(({ msg }) => msg.startsWith("The ping says")).map(({ problem }) => problem);

describe("the ping says that the alarm", () => {
  test("is well each minute, from the start on, on each of two hosts", async () => {
    await using service = await startService({ store: "postgres", ping: true });
    expect(service.ping.pings).toEqual(["well"]);
    await service.another();
    expect(await pingsOf(service, 2)).toBe("well well well well");
    expect(problems(service)).toEqual([]);
  });

  test("is not well while a critical alert has waited for ten minutes", async () => {
    await using service = await startService({ ping: true });
    setGateway(service, "closed");
    await service.post([critical("a")]);
    expect(await pingsOf(service, 9.9)).toBe("well ".repeat(9).trim());
    expect(await pingsOf(service, 2)).toBe("fail fail");
    setGateway(service, "none");
    await service.advance(10_000, STEP_MS);
    expect(await pingsOf(service, 2)).toBe("well well");
    expect(problems(service)).toEqual(["critical_alert_waits"]);
  });

  onFailingStores("is not well while no alert can be kept", async (store) => {
    await using service = await startFailing({ store, ping: true });
    await loseStore(service);
    expect(await pingsOf(service, 2, 20_000)).toBe("fail fail");
    service.restoreStore();
    await service.advance(10_000, STEP_MS);
    expect(await pingsOf(service, 2)).toBe("well well");
    expect(problems(service)).toEqual(["cannot_accept"]);
  });
});

test("a ping that fails changes nothing and is logged once", async () => {
  await using service = await startService({ ping: true });
  service.ping.routes.ping.script = () => ({ status: 404, text: "" });
  await service.advance(30 * MINUTE_MS, 10_000);
  expect(service.ping.routes.ping.calls.length).toBeGreaterThanOrEqual(30);
  const lines = service.log.filter(({ msg }) => msg === "The ping of OPSCTL_PING_URL fails");
  expect(lines.map(({ code }) => code)).toEqual(["http_404"]);
});
