/** The shipped route of the reverse proxy, judged by the published schema of its dynamic configuration. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import schema from "../fixtures/traefik-v3-file-provider.json";

const ROUTE = readFileSync(new URL("../../systemd/proxy/opsctl-alerts.yml", import.meta.url), "utf8");

const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);

/** What the schema finds wrong with a configuration; nothing when it takes it. */
function mistakes(yaml: string): string[] {
  validate(Bun.YAML.parse(yaml));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Every name that a router uses, from the parsed route. */
type Route = {
  http: {
    routers: Record<string, { service: string; rule: string; tls?: object }>;
    services: Record<string, unknown>;
  };
};

describe("the shipped route", () => {
  test("is of the proxy's schema", () => {
    expect(mistakes(ROUTE)).toEqual([]);
  });

  test("leads every router to a service that is there, by TLS alone", () => {
    const { http } = Bun.YAML.parse(ROUTE) as Route;
    expect(Object.keys(http)).toEqual(["routers", "services"]);
    expect(Object.keys(http.routers)).not.toEqual([]);
    for (const router of Object.values(http.routers)) {
      expect(Object.keys(http.services)).toContain(router.service);
      expect(router.tls).toBeDefined();
    }
  });

  test.each([
    ["a key with another name", "entryPoints:", "entrypoints:"],
    ["a single entry point that is no list", "entryPoints:\n        - websecure", "entryPoints: websecure"],
    ["a service without servers", /servers:\n(.*\n)*/, "passHostHeader: true\n"],
    ["a server without its address", "- url:", "- address:"],
    ["an address that is no text", '"http://172.17.0.1:9300"', "9300"],
    ["a router without a rule", /rule: .*/, ""],
    ["a router without a service", "      service: opsctl-alerts\n", ""],
    ["another top level", /^http:/m, "https:"],
    ["TLS that is no object", /tls:\n.*certResolver.*/, "tls: letsencrypt"],
  ])("with %s would be refused", (_what, from, to) => {
    const changed = ROUTE.replace(from, to);
    expect(changed).not.toBe(ROUTE);
    expect(mistakes(changed)).not.toEqual([]);
  });
});
