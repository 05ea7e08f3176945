/**
 * The agent's configuration. Its own checker comes with no package that a test could take it from, so the language's
 * form and the wiring of the components are checked here: strict, but no substitute for `alloy validate`.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_TEXTFILE_DIR } from "../../lib/host/metrics-file-name.ts";
import { parseEnvFile } from "../../lib/platform/config/env-files/env-file.ts";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../../systemd/agent");
const text = readFileSync(join(folder, "config.alloy"), "utf8");

type Value = string | Value[] | { [key: string]: Value };
type Block = { name: string; label: string | null; attributes: Record<string, Value>; blocks: Block[] };

/** What each kind of component may hold, and what others may take from it. */
const COMPONENTS: Record<string, { holds: string[]; gives: string | null }> = {
  "prometheus.exporter.unix": { holds: ["textfile"], gives: "targets" },
  "discovery.relabel": { holds: ["targets", "rule"], gives: "output" },
  "prometheus.scrape": { holds: ["targets", "scrape_interval", "forward_to"], gives: null },
  "prometheus.remote_write": { holds: ["endpoint"], gives: "receiver" },
  "loki.source.file": { holds: ["targets", "forward_to"], gives: null },
  "loki.write": { holds: ["endpoint"], gives: "receiver" },
};

/** Reads the part of the language that is used: blocks, attributes on lines of their own, texts, lists, objects. */
function parse(source: string): Block[] {
  const tokens = [
    ...source.replace(/^\s*\/\/.*$/gm, "").matchAll(/"(?:[^"\\\n]|\\.)*"|[\w.]+|[{}[\](),=\n]|\S/g),
  ].map(([token]) => token);
  let at = 0;
  const skip = (...what: string[]) => {
    while (what.includes(tokens[at] as string)) at++;
  };
  const take = (pattern: RegExp): string => {
    const token = tokens[at++];
    if (token === undefined || !pattern.test(token)) throw new Error(`unexpected ${JSON.stringify(token)}`);
    return token;
  };
  const commaOr = (end: string) => {
    skip("\n");
    if (tokens[at] !== end) take(/^,$/);
    skip("\n");
  };
  const value = (): Value => {
    const token = take(/^("|\w|\[|\{)/);
    if (token === "[") {
      const list: Value[] = [];
      for (skip("\n"); tokens[at] !== "]"; commaOr("]")) list.push(value());
      at++;
      return list;
    }
    if (token === "{") {
      const object: Record<string, Value> = {};
      for (skip("\n"); tokens[at] !== "}"; commaOr("}")) {
        const key = take(/^\w+$/);
        take(/^=$/);
        object[key] = value();
      }
      at++;
      return object;
    }
    if (tokens[at] !== "(") return token;
    at++;
    const argument = take(/^"/);
    take(/^\)$/);
    return `${token}(${argument})`;
  };
  const body = (end: string | undefined): Pick<Block, "attributes" | "blocks"> => {
    const attributes: Record<string, Value> = {};
    const blocks: Block[] = [];
    for (skip("\n"); tokens[at] !== end; skip("\n")) {
      const name = take(/^[a-z_]+(\.[a-z_]+)*$/);
      if (tokens[at] === "=") {
        at++;
        if (name in attributes) throw new Error(`${name} stands twice`);
        attributes[name] = value();
      } else {
        const label = tokens[at]?.startsWith('"') ? JSON.parse(take(/^"\w+"$/)) : null;
        take(/^\{$/);
        blocks.push({ name, label, ...body("}") });
        at++;
      }
      if (tokens[at] !== end) take(/^\n$/);
    }
    return { attributes, blocks };
  };
  const { attributes, blocks } = body(undefined);
  if (Object.keys(attributes).length > 0) throw new Error("an attribute outside of every block");
  return blocks;
}

const blocks = parse(text);

function component(name: string, label?: string): Block {
  const found = blocks.filter((block) => block.name === name && (label ?? block.label) === block.label);
  expect(found).toHaveLength(1);
  return found[0] as Block;
}

describe("the check of this test", () => {
  test("reads blocks in blocks, texts, lists, objects and calls", () => {
    const source = 'a.b "c" {\n  d = "x"\n  e = [{f = g.h}, sys.env("I")]\n  j {\n  }\n}\n';
    expect(parse(source)).toEqual([
      {
        name: "a.b",
        label: "c",
        attributes: { d: '"x"', e: [{ f: "g.h" }, 'sys.env("I")'] },
        blocks: [{ name: "j", label: null, attributes: {}, blocks: [] }],
      },
    ]);
  });

  test.each([
    ["a block without an end", 'a.b "c" {\n'],
    ["a list without a comma", 'a.b "c" {\n  d = ["x" "y"]\n}\n'],
    ["an attribute twice", 'a.b "c" {\n  d = "x"\n  d = "x"\n}\n'],
  ])("refuses %s", (_what, source) => {
    expect(() => parse(source)).toThrow();
  });
});

describe("the agent's configuration", () => {
  test("has components of known kinds, one label each, with what these may hold", () => {
    expect(new Set(blocks.map(({ name }) => name))).toEqual(new Set(Object.keys(COMPONENTS)));
    for (const { name, label, attributes, blocks: inner } of blocks) {
      expect(label).toMatch(/^[a-z]+$/);
      const held = [...Object.keys(attributes), ...inner.map((block) => block.name)];
      expect(held.filter((part) => !COMPONENTS[name]?.holds.includes(part))).toEqual([]);
    }
    const names = blocks.map(({ name, label }) => `${name}.${label}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test("every reference leads to what a component gives, and every component is part of the chain", () => {
    const given = blocks.flatMap(({ name, label }) => {
      const gives = COMPONENTS[name]?.gives;
      return gives ? [`${name}.${label}.${gives}`] : [];
    });
    const used = blocks
      .flatMap(({ attributes }) => [attributes.targets, attributes.forward_to].flat())
      .filter((value): value is string => typeof value === "string");
    expect([...new Set(used)].sort()).toEqual(given.sort());
  });

  test("reads the text-file directory that the collector writes into, and switches no collector off", () => {
    const exporter = component("prometheus.exporter.unix");
    expect(exporter.attributes).toEqual({});
    expect(exporter.blocks).toEqual([
      { name: "textfile", label: null, attributes: { directory: `"${DEFAULT_TEXTFILE_DIR}"` }, blocks: [] },
    ]);
  });

  test("calls the host main, and leaves the job as the exporter says it", () => {
    expect(component("discovery.relabel").blocks).toEqual([
      {
        name: "rule",
        label: null,
        attributes: { target_label: '"instance"', replacement: '"main"' },
        blocks: [],
      },
    ]);
    expect(component("prometheus.scrape", "host").attributes.scrape_interval).toBe('"60s"');
  });

  test("reads the webhook's admin port under the host's name, with a job that the rules can tell apart", () => {
    const { targets, scrape_interval } = component("prometheus.scrape", "webhook").attributes;
    expect(targets).toEqual([
      { __address__: '"127.0.0.1:9301"', job: '"opsctl-webhook"', instance: '"main"' },
    ]);
    expect(scrape_interval).toBe('"60s"');
  });

  test("tails both security logs, with their jobs and the host's label", () => {
    expect(component("loki.source.file").attributes.targets).toEqual([
      { __path__: '"/var/log/auth.log"', job: '"auth"', host: '"vps-master"' },
      { __path__: '"/var/log/ufw.log"', job: '"ufw"', host: '"vps-master"' },
    ]);
  });

  test("takes addresses, users and key from the environment, and the sample names exactly these", () => {
    const endpoint = (kind: string, prefix: string) => {
      expect(component(kind).blocks).toEqual([
        {
          name: "endpoint",
          label: null,
          attributes: { url: `sys.env("${prefix}_URL")` },
          blocks: [
            {
              name: "basic_auth",
              label: null,
              attributes: { username: `sys.env("${prefix}_USER")`, password: 'sys.env("CLOUD_TOKEN")' },
              blocks: [],
            },
          ],
        },
      ]);
    };
    endpoint("prometheus.remote_write", "PROM");
    endpoint("loki.write", "LOKI");
    const sample = parseEnvFile(readFileSync(join(folder, "alloy.env.example"), "utf8"));
    expect([...sample.keys()].sort()).toEqual(
      [...new Set([...text.matchAll(/sys\.env\("(\w+)"\)/g)].map(([, name]) => name as string))].sort(),
    );
    expect([...sample.values()].join("")).toBe("");
  });
});
