import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Ledger } from "../sql/support/ledger.ts";
import { describeDeliveries, failedDelivery } from "./support/deliveries.ts";

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** Runs `opsctl` with nothing but the database's URL around it. */
async function opsctl(ledger: Ledger, ...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { DATABASE_URL: ledger.database.url, PATH: process.env.PATH ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
  const exitCode = await new Promise((resolve) => child.once("close", resolve));
  return { exitCode, ...texts };
}

describeDeliveries("opsctl deliveries", (ledger) => {
  async function json(...args: string[]) {
    const { exitCode, stdout } = await opsctl(ledger, "deliveries", ...args, "--json");
    expect(stdout).toMatch(/^[^\n]+\n$/);
    const result = JSON.parse(stdout);
    expect(result.exitCode).toBe(exitCode);
    return result;
  }

  test("list prints the documented keys, and pages by --after", async () => {
    const { id, tenantId } = await failedDelivery(ledger);
    await ledger.claimDelivery((await ledger.delivery(id)).report_id, "email");
    const filter = ["--tenant", tenantId.toUpperCase(), "--week", "2026-11-16"];
    const first = await json("list", ...filter, "--limit", "1");
    expect(first).toMatchObject({ command: "deliveries list", status: "success", more: true, error: null });
    const second = await json("list", ...filter, "--after", first.next);
    expect(second).toMatchObject({ more: false, next: null });
    const both = [...first.deliveries, ...second.deliveries];
    expect(both.map((delivery: { state: string }) => delivery.state).toSorted()).toEqual([
      "failed",
      "running",
    ]);
    expect(await json("list", ...filter, "--state", "failed")).toMatchObject({ deliveries: [{ id }] });
    expect((await opsctl(ledger, "deliveries", "list", ...filter)).stdout).toContain(id);
  });

  test("show and reconcile take an unknown delivery to its end", async () => {
    const { id } = await ledger.unknownDelivery("email");
    const shown = await opsctl(ledger, "deliveries", "show", id);
    expect(shown).toMatchObject({ exitCode: 0 });
    expect(shown.stdout).toContain("Next:\n");
    const found = ["--to", "sent", "--provider-message-id", "provider-id", "--reason", "Found by its tag"];
    expect(await json("reconcile", id, ...found, "--actor", "ana")).toEqual({
      command: "deliveries reconcile",
      status: "success",
      exitCode: 0,
      delivery: { id, state: "sent", code: null },
      error: null,
    });
    expect(await json("show", id)).toMatchObject({
      delivery: { state: "sent", providerMessageId: "provider-id" },
      reconciliations: [{ state: "sent", actor: "ana", reason: "Found by its tag" }],
      next: [],
    });
    expect(await json("reconcile", id, ...found)).toMatchObject({
      exitCode: 1,
      error: { code: "DELIVERY_NOT_UNKNOWN" },
    });
  });

  test("refusals have exit statuses: 1 for a missing row, 2 for a reason that names a recipient", async () => {
    const missing = await json("show", crypto.randomUUID());
    expect(missing).toMatchObject({ exitCode: 1, error: { code: "DELIVERY_NOT_FOUND" } });
    const { id } = await ledger.unknownDelivery("email");
    const refused = await json("reconcile", id, "--to", "failed", "--reason", "fulano@example.com says no");
    expect(refused).toMatchObject({ exitCode: 2, error: { code: "RECONCILE_REASON_PRIVATE" } });
    expect(JSON.stringify(refused)).not.toContain("fulano");
    const idOnFailure = ["--to", "failed", "--provider-message-id", "x", "--reason", "y"];
    expect(await opsctl(ledger, "deliveries", "reconcile", id, ...idOnFailure)).toMatchObject({
      exitCode: 2,
    });
    expect(await ledger.delivery(id)).toMatchObject({ status: "unknown" });
  });
});
