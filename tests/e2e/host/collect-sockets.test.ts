import { test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { useOwnNetwork } from "../../host/support/own-network.ts";
import { holdSockets, listBySs } from "../../host/support/real-sockets.ts";
import { openCollectArena } from "../../metrics/support/dependencies.ts";
import { parseExposition } from "../../metrics/support/parse-exposition.ts";
import { until } from "../../support/until.ts";
import { opsctl } from "../support/opsctl.ts";

useOwnNetwork();

test("opsctl collect-metrics counts real sockets as ss does", async () => {
  await using arena = await openCollectArena();
  await using _a = await holdSockets("127.0.0.1", 300, "close-wait");
  await using _b = await holdSockets("::1", 300, "close-wait");
  await until("a count between two equal listings that is the same", async () => {
    const before = listBySs().byState["CLOSE-WAIT"] ?? 0;
    await opsctl(["collect-metrics"], { env: arena.env });
    const after = listBySs().byState["CLOSE-WAIT"] ?? 0;
    const counted = parseExposition(readFileSync(join(arena.folder, "custom_metrics.prom"), "utf8")).find(
      ({ name }) => name === "tcp_close_wait_total",
    )?.value;
    return before >= 600 && before === after && counted === before;
  });
});
