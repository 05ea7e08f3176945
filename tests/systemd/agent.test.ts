/**
 * The agent's configuration: what it reads, under which names, and where it sends it. Its own checker comes with no
 * package that a test could take it from, so the values are looked for in its blocks.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readEnvFile } from "../../lib/platform/config/env-file.ts";
import { SETTINGS } from "../../lib/platform/config/settings-table.ts";

const folder = join(import.meta.dirname, "../../systemd/agent");
const text = readFileSync(join(folder, "config.alloy"), "utf8").replace(/^\s*\/\/.*\n/gm, "");

/** The blocks of the file by their names, each with what is between its braces. */
const blocks = new Map(
  [...text.matchAll(/^([a-z._]+) "([a-z]+)" \{\n([\s\S]*?)^\}$/gm)].map(([, kind, label, body]) => [
    `${kind}.${label}`,
    body!,
  ]),
);

/** The body of the only block of that name, or of the one with that label. */
function block(name: string): string {
  const found = [...blocks].filter(([path]) => path === name || path.startsWith(`${name}.`));
  expect(found).toHaveLength(1);
  return found[0]![1];
}

describe("the agent's configuration", () => {
  test("is read whole by this test, and each brace has its other one", () => {
    expect(text.replace(/^[a-z._]+ "[a-z]+" \{\n[\s\S]*?^\}$/gm, "").trim()).toBe("");
    for (const [open, close] of ["{}", "[]", "()"] as const)
      expect(text.split(open!).length).toBe(text.split(close!).length);
    expect(blocks.size).toBeGreaterThan(6);
  });

  test("every reference leads to a component, and every component is part of the chain", () => {
    const used = [...text.matchAll(/\b([a-z_.]+\.[a-z]+)\.(?:targets|output|receiver)\b/g)].map(
      ([, name]) => name!,
    );
    expect(used.filter((name) => !blocks.has(name))).toEqual([]);
    const sources = [...blocks.keys()].filter((name) => /^(prometheus\.scrape|loki\.source)/.test(name));
    expect([...new Set([...used, ...sources])].sort()).toEqual([...blocks.keys()].sort());
  });

  test("reads the text-file directory that the collector writes into, and switches no collector off", () => {
    const words = block("prometheus.exporter.unix").split(/\s+/).filter(Boolean);
    expect(words).toEqual(["textfile", "{", "directory", "=", `"${SETTINGS.TEXTFILE_DIR.default}"`, "}"]);
  });

  test("calls the host main, and leaves the job as the exporter says it", () => {
    const rule = block("discovery.relabel");
    expect(rule).toMatch(/target_label\s*=\s*"instance"/);
    expect(rule).toMatch(/replacement\s*=\s*"main"/);
    expect(rule.match(/\brule\b/g)).toHaveLength(1);
    expect(block("prometheus.scrape.host")).toMatch(/scrape_interval\s*=\s*"60s"/);
  });

  test("reads the webhook's admin port under the host's name, with a job of its own", () => {
    const scrape = block("prometheus.scrape.webhook");
    for (const pair of [
      /__address__\s*=\s*"127\.0\.0\.1:9301"/,
      /job\s*=\s*"opsctl-webhook"/,
      /instance\s*=\s*"main"/,
    ])
      expect(scrape).toMatch(pair);
    expect(scrape).toMatch(/scrape_interval\s*=\s*"60s"/);
  });

  test("tails both security logs, with their jobs and the host's label", () => {
    const targets = [...block("loki.source.file").matchAll(/\{([^}]*)\}/g)].map(([, target]) =>
      [...target!.matchAll(/"([^"]*)"/g)].map(([, value]) => value),
    );
    expect(targets).toEqual([
      ["/var/log/auth.log", "auth", "vps-master"],
      ["/var/log/ufw.log", "ufw", "vps-master"],
    ]);
  });

  test.each([
    ["prometheus.remote_write", "PROM"],
    ["loki.write", "LOKI"],
  ])("takes address, user and key of %s from the environment", (kind, prefix) => {
    const values = [...block(kind).matchAll(/(\w+)\s*=\s*(sys\.env\("\w+"\))/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    expect(values).toEqual([
      ["url", `sys.env("${prefix}_URL")`],
      ["username", `sys.env("${prefix}_USER")`],
      ["password", 'sys.env("CLOUD_TOKEN")'],
    ]);
  });

  test("names in its sample exactly the variables that it reads, without values", () => {
    const sample = readEnvFile(readFileSync(join(folder, "alloy.env.example"), "utf8")).variables;
    const read = [...text.matchAll(/sys\.env\("(\w+)"\)/g)].map(([, name]) => name!);
    expect([...sample.keys()].sort()).toEqual([...new Set(read)].sort());
    expect([...sample.values()].join("")).toBe("");
  });
});
