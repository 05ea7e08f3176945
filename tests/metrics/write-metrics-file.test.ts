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
import { writeMetricsFile } from "../../lib/metrics/write-metrics-file.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-textfile-"));
  path = join(folder, "custom_metrics.prom");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Another process, which writes the two texts in turn under a umask that would close the file. */
const WRITER = `
  import { writeMetricsFile } from ${JSON.stringify(join(import.meta.dir, "../../lib/metrics/write-metrics-file.ts"))};
  const [path, ...texts] = process.argv.slice(-3);
  process.umask(0o077);
  for (let n = 0; n < 400; n += 1) writeMetricsFile(path, texts[n % 2]);
`;

describe("writeMetricsFile()", () => {
  test("is never seen torn, by whoever reads during 200 writes, nor with another mode under any umask", async () => {
    const texts = [0, 1].map((n) => `${`metric{n="${n}"} ${n}\n`.repeat(3_000)}# end ${n}\n`);
    writeMetricsFile(path, texts[0]!);
    const writer = Bun.spawn([process.execPath, "-e", WRITER, path, ...texts], { stderr: "inherit" });
    let reads = 0;
    while (writer.exitCode === null) {
      expect(texts).toContain(readFileSync(path, "utf8"));
      expect(statSync(path).mode & 0o777).toBe(0o644);
      expect(readdirSync(folder).filter((name) => name.endsWith(".prom"))).toEqual(["custom_metrics.prom"]);
      reads += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(writer.exitCode).toBe(0);
    expect(reads).toBeGreaterThan(200);
    expect(readdirSync(folder)).toEqual(["custom_metrics.prom"]);
  });

  test("removes what a killed run left, and nothing else", async () => {
    const others = [".other.prom.0123456789ab.tmp", ".custom_metrics.prom.x.tmp", "custom_metrics.prom.bak"];
    for (const name of [".custom_metrics.prom.0123456789ab.tmp", ...others])
      writeFileSync(join(folder, name), "");
    writeMetricsFile(path, "x 1\n");
    expect(readdirSync(folder).sort()).toEqual([...others, "custom_metrics.prom"].sort());
  });

  test("replaces a link instead of writing where it leads", async () => {
    const elsewhere = join(folder, "elsewhere");
    writeFileSync(elsewhere, "mine");
    symlinkSync(elsewhere, path);
    writeMetricsFile(path, "x 1\n");
    expect(readFileSync(elsewhere, "utf8")).toBe("mine");
    expect(readFileSync(path, "utf8")).toBe("x 1\n");
  });

  test("leaves the old file as it is when it cannot write", async () => {
    const refusal = expect.objectContaining({ code: "METRICS_FILE_UNWRITABLE" });
    writeFileSync(path, "old 1\n");
    const failed = () => writeMetricsFile(join(folder, "nothing", "custom_metrics.prom"), "x 1\n");
    expect(failed).toThrow(refusal);
    rmSync(path);
    mkdirSync(join(path, "inside"), { recursive: true });
    expect(() => writeMetricsFile(path, "x 1\n")).toThrow(refusal);
    expect(readdirSync(folder)).toEqual(["custom_metrics.prom"]);
  });
});
