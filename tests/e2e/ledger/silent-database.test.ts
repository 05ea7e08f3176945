import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { faultProxy } from "../../platform/support/fault-proxy.ts";
import { openFixture } from "../support/fixture.ts";

describe.concurrent("a database that takes the login and then is silent", () => {
  test("ends each command that reads the ledger by itself, with exit 3 and what is wrong", async () => {
    await using fixture = await openFixture();
    const url = new URL(readFileSync(join(fixture.secretsDir, "DATABASE_URL"), "utf8").trim());
    await using proxy = await faultProxy(Number(url.port));
    proxy.loseFrom("pg_backend_pid");
    url.port = String(proxy.port);
    fixture.secret("DATABASE_URL", url.href);
    const commands = [
      ["reports", "status"],
      ["reports", "list"],
      ["deliveries", "list"],
      ["migrate", "--status"],
      ["weekly", "--dry-run"],
    ];
    const ended = await Promise.all(commands.map((args) => fixture.opsctl([...args, "--json"])));
    for (const { exitCode, json } of ended) {
      expect(exitCode).toBe(3);
      expect(json).toMatchObject({
        error: {
          code: "DATABASE_UNREACHABLE",
          message: "Cannot connect to the database: the database did not answer in time",
        },
      });
    }
  });
});
