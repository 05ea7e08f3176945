/** The shipped route of the reverse proxy: it uses keys that Traefik's file provider knows, and serves by TLS alone. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import * as v from "valibot";

const ROUTE = readFileSync(new URL("../../systemd/proxy/opsctl-alerts.yml", import.meta.url), "utf8");

/**
 * The part of Traefik's dynamic configuration that the route uses, with the names that it requires.
 *
 * Source: https://json.schemastore.org/traefik-v3-file-provider.json, httpRouter and httpLoadBalancerService, 2026-08-07.
 */
const DYNAMIC = v.strictObject({
  http: v.strictObject({
    routers: v.record(
      v.string(),
      v.strictObject({
        rule: v.string(),
        service: v.string(),
        entryPoints: v.array(v.string()),
        tls: v.strictObject({ certResolver: v.string() }),
      }),
    ),
    services: v.record(
      v.string(),
      v.strictObject({
        loadBalancer: v.strictObject({
          servers: v.pipe(v.array(v.strictObject({ url: v.string() })), v.minLength(1)),
        }),
      }),
    ),
  }),
});

const isTaken = (yaml: string) => v.safeParse(DYNAMIC, Bun.YAML.parse(yaml)).success;

describe("the shipped route", () => {
  test("leads every router to a service that is there, by TLS alone, in the proxy's own words", () => {
    const { routers, services } = v.parse(DYNAMIC, Bun.YAML.parse(ROUTE)).http;
    expect(Object.keys(routers)).not.toEqual([]);
    for (const { service } of Object.values(routers)) expect(Object.keys(services)).toContain(service);
  });

  test.each([
    ["a key with another name", "entryPoints:", "entrypoints:"],
    ["a server without its address", "- url:", "- address:"],
    ["a router without a rule", /rule: .*/, ""],
    ["a router without TLS", /tls:\n.*certResolver.*/, ""],
  ])("a route with %s would be refused", (_what, from, to) => {
    expect(isTaken(ROUTE.replace(from, to))).toBe(false);
  });
});
