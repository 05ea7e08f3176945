import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeMetricsFile } from "../../lib/metrics/textfile.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-textfile-"));
  path = join(folder, "custom_metrics.prom");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("writeMetricsFile()", () => {
  test("is never seen torn, by whoever reads during 200 writes, nor with another mode under any umask", async () => {
    const texts = [0, 1].map((n) => `${`metric{n="${n}"} ${n}\n`.repeat(3_000)}# end ${n}\n`);
    const umask = process.umask(0o077);
    try {
      await writeMetricsFile(path, texts[0]!);
      let isWriting = true;
      let reads = 0;
      const reader = (async () => {
        while (isWriting) {
          expect(texts).toContain(readFileSync(path, "utf8"));
          expect(statSync(path).mode & 0o777).toBe(0o644);
          expect(readdirSync(folder).filter((name) => name.endsWith(".prom"))).toEqual([
            "custom_metrics.prom",
          ]);
          reads += 1;
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      for (let n = 0; n < 200; n += 1) await writeMetricsFile(path, texts[n % 2]!);
      isWriting = false;
      await reader;
      expect(reads).toBeGreaterThan(200);
    } finally {
      process.umask(umask);
    }
    expect(readdirSync(folder)).toEqual(["custom_metrics.prom"]);
  });

  test("removes what a killed run left, and nothing else", async () => {
    const others = [".other.prom.0123456789ab.tmp", ".custom_metrics.prom.x.tmp", "custom_metrics.prom.bak"];
    for (const name of [".custom_metrics.prom.0123456789ab.tmp", ...others])
      writeFileSync(join(folder, name), "");
    await writeMetricsFile(path, "x 1\n");
    expect(readdirSync(folder).sort()).toEqual([...others, "custom_metrics.prom"].sort());
  });

  test("replaces a link instead of writing where it leads", async () => {
    const elsewhere = join(folder, "elsewhere");
    writeFileSync(elsewhere, "mine");
    symlinkSync(elsewhere, path);
    await writeMetricsFile(path, "x 1\n");
    expect(readFileSync(elsewhere, "utf8")).toBe("mine");
    expect(readFileSync(path, "utf8")).toBe("x 1\n");
  });

  test("leaves the old file as it is when it cannot write", async () => {
    writeFileSync(path, "old 1\n");
    const failed = writeMetricsFile(join(folder, "nothing", "custom_metrics.prom"), "x 1\n");
    await expect(failed).rejects.toMatchObject({ code: "METRICS_FILE_UNWRITABLE" });
    rmSync(path);
    mkdirSync(join(path, "inside"), { recursive: true });
    await expect(writeMetricsFile(path, "x 1\n")).rejects.toMatchObject({ code: "METRICS_FILE_UNWRITABLE" });
    expect(readdirSync(folder)).toEqual(["custom_metrics.prom"]);
  });
});
