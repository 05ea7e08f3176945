import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { LOCALHOST_CERTIFICATE } from "../../standins/localhost-certificate.ts";
import {
  type RawPeer,
  refusedPort,
  startDropper,
  startRawPeer,
  startSilentPeer,
  startTlsBreaker,
  startTlsPeer,
} from "../../standins/raw-peer.ts";
import { type StandIn, startStandIn } from "../../standins/standin.ts";
import type { ProbeCall, ProbeResult } from "../support/http-probe.ts";

const root = join(import.meta.dir, "../../..");
const probe = join(import.meta.dir, "../support/http-probe.ts");

type Peers = Record<"dropper" | "silent" | "closer" | "tls" | "tls12" | "breaker" | "other", RawPeer>;
let peers: Peers;
let plain: StandIn<"any">;
let refused: number;
let folder: string;

beforeAll(async () => {
  peers = {
    dropper: await startDropper(),
    silent: await startSilentPeer(),
    closer: await startRawPeer((socket) => socket.end()),
    tls: await startTlsPeer("{}"),
    tls12: await startTlsPeer("{}", "TLSv1.2"),
    breaker: await startTlsBreaker(),
    other: await startTlsPeer("{}"),
  };
  plain = await startStandIn(
    { any: { method: "POST", pattern: /^\/$/, handle: async () => ({ status: 200, json: {} }) } },
    { notFound: () => ({ status: 404 }) },
  );
  refused = await refusedPort();
  folder = mkdtempSync(join(tmpdir(), "http-runtimes-"));
  writeFileSync(join(folder, "certificate.pem"), LOCALHOST_CERTIFICATE);
});

afterAll(async () => {
  await Promise.all([...Object.values(peers), plain].map((peer) => peer.stop()));
  rmSync(folder, { recursive: true });
});

/** Makes the calls in a process of its own, whose environment decides what it trusts. */
async function run(
  calls: ProbeCall[],
  trusted: boolean,
  more: Record<string, string> = {},
): Promise<Map<string, ProbeResult>> {
  const pem = join(folder, "certificate.pem");
  const trust = trusted ? { NODE_EXTRA_CA_CERTS: pem } : {};
  const env = { PATH: process.env.PATH, HOME: folder, ...trust, ...more };
  const args = ["run", probe, JSON.stringify(calls)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env });
  return new Map((JSON.parse(stdout) as ProbeResult[]).map((result) => [result.name, result]));
}

const SHORT_MS = 700;
const LONG_MS = 20_000;
const call = (name: string, url: string, timeoutMs = LONG_MS): ProbeCall => ({ name, url, timeoutMs });

describe("callPeer()", () => {
  test("distinguishes what provably precedes the request from what does not", async () => {
    const results = await run(
      [
        call("refused", `http://127.0.0.1:${refused}/`),
        call("refused, TLS", `https://localhost:${refused}/`),
        call("name not found", "http://no-such-host.invalid/"),
        call("name not found, TLS", "https://no-such-host.invalid/"),
        call("TLS to a plain port", `https://localhost:${plain.url.split(":").at(-1)}/`),
        call("certificate not trusted", `https://localhost:${peers.other.port}/`),
        call("handshake dropped", `https://localhost:${peers.dropper.port}/`),
        call("closed at once", `http://127.0.0.1:${peers.closer.port}/`),
        call("dropped after the request", `http://127.0.0.1:${peers.dropper.port}/`),
        call("silence", `http://127.0.0.1:${peers.silent.port}/`, SHORT_MS),
        call("plain to a TLS port", `http://127.0.0.1:${peers.tls.port}/`),
      ],
      false,
    );
    const seen = Object.fromEntries(
      [...results].map(([name, { class: kind, problem }]) => [name, `${kind} ${problem}`]),
    );
    expect(seen).toEqual({
      refused: "not_sent unreachable",
      "refused, TLS": "not_sent unreachable",
      "name not found": "not_sent unreachable",
      "name not found, TLS": "not_sent unreachable",
      "TLS to a plain port": "not_sent unreachable",
      "certificate not trusted": "not_sent unreachable",
      "handshake dropped": "not_sent unreachable",
      "closed at once": "ambiguous connection_lost",
      "dropped after the request": "ambiguous connection_lost",
      silence: "ambiguous timeout",
      "plain to a TLS port": "ambiguous connection_lost",
    });
    expect(peers.other.requests).toBe(0);
  });

  test("goes to no address of this host through a proxy, which would take it off the host", async () => {
    const elsewhere = await startStandIn(
      { any: { method: "POST", pattern: /^\/$/, handle: async () => ({ status: 200, json: {} }) } },
      { notFound: () => ({ status: 404 }), host: "127.0.0.2" },
    );
    try {
      const port = new URL(elsewhere.url).port;
      const hosts = ["127.0.0.2", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]"];
      const calls = [
        ...hosts.map((host) => call(host, `http://${host}:${port}/`)),
        call("not this host", "http://peer.example/by-proxy"),
      ];
      const proxy = `http://127.0.0.1:${plain.url.split(":").at(-1)}`;
      const results = await run(calls, false, { HTTP_PROXY: proxy, http_proxy: proxy });
      expect([...results.values()].map(({ name, status }) => [name, status])).toEqual([
        ...hosts.map((host) => [host, 200]),
        ["not this host", 404],
      ]);
      expect(elsewhere.ledger).toHaveLength(hosts.length);
    } finally {
      await elsewhere.stop();
    }
  });

  test("takes a TLS fault for a failure before the request only when it is one", async () => {
    const requestsBefore = peers.breaker.requests;
    const calls = [
      call("TLS 1.3", `https://localhost:${peers.tls.port}/`),
      call("TLS 1.3 again", `https://localhost:${peers.tls.port}/`),
      call("TLS 1.2", `https://localhost:${peers.tls12.port}/`),
      call("wrong name", `https://127.0.0.1:${peers.other.port}/`),
      call("broken after the request", `https://localhost:${peers.breaker.port}/`),
    ];
    const results = await run(calls, true);
    const seen = Object.fromEntries(
      [...results].map(([name, { class: kind, problem }]) => [name, `${kind} ${problem}`]),
    );
    expect(seen).toEqual({
      "TLS 1.3": "answered null",
      "TLS 1.3 again": "answered null",
      "TLS 1.2": "answered null",
      "wrong name": "not_sent unreachable",
      "broken after the request": "ambiguous connection_lost",
    });
    expect(peers.breaker.requests - requestsBefore).toBe(1);
    expect(peers.other.requests).toBe(0);
  });

  test("through a Unix socket ends in its time, also when the answer is no answer", async () => {
    const unixSocket = join(folder, "peer.sock");
    const said = ["HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n", null];
    const server = createServer((socket) => {
      socket
        .on("error", () => {})
        .once("data", () => {
          const words = said.shift();
          if (typeof words === "string") socket.write(words);
          else if (words === null) socket.destroy();
        });
    });
    await new Promise<void>((resolve) => server.listen(unixSocket, resolve));
    const read = (name: string, timeoutMs: number): ProbeCall => ({
      ...{ name, url: "http://localhost/", method: "GET", timeoutMs, unixSocket },
    });
    const calls = [read("switched", LONG_MS), read("dropped", LONG_MS), read("silence", SHORT_MS)];
    const results = await run(calls, false);
    server.close();
    expect([...results.values()].map(({ class: kind, problem }) => `${kind} ${problem}`)).toEqual([
      "ambiguous connection_lost",
      "ambiguous connection_lost",
      "ambiguous timeout",
    ]);
  });

  test("checks certificates for reads and sends, also where the environment asks for no checks", async () => {
    const peer = await startTlsPeer("{}");
    const url = `https://localhost:${peer.port}/`;
    const calls = [
      { ...call("read", url), method: "GET" as const },
      call("send", url),
      { ...call("read again", url), method: "GET" as const },
    ];
    const results = await run(calls, false, { NODE_TLS_REJECT_UNAUTHORIZED: "0" });
    await peer.stop();
    expect([...results.values()].map((result) => result.status)).toEqual([null, null, null]);
    expect(peer.requests).toBe(0);
  });

  test("does not take a handshake that outlasts the limit for a request", async () => {
    const results = await run([call("stalled", `https://localhost:${peers.silent.port}/`, SHORT_MS)], false);
    expect(results.get("stalled")).toMatchObject({ class: "not_sent", problem: "timeout" });
  });

  test("a service that accepts a send and then drops the connection has seen it once, with a warm pool too", async () => {
    const callsBefore = plain.routes.any.calls.length;
    const drops = { accept: "drop" } as const;
    const warmUp = { status: 200, json: {} };
    plain.routes.any.next(drops, warmUp, drops, warmUp, drops);
    const url = `${plain.url}/`;
    const results = await run(
      [call("cold", url), { ...call("warm", url), warm: true }, { ...call("warm again", url), warm: true }],
      true,
    );
    expect([...results.values()].map((result) => `${result.class} ${result.problem}`)).toEqual([
      "ambiguous connection_lost",
      "ambiguous connection_lost",
      "ambiguous connection_lost",
    ]);
    const calls = plain.routes.any.calls.slice(callsBefore);
    expect(calls.map((entry) => entry.rawBody)).toEqual(['{"a":1}', "{}", '{"a":1}', "{}", '{"a":1}']);
    const sends = calls.filter((entry) => entry.rawBody !== "{}").map((entry) => entry.connection);
    const others = calls.filter((entry) => entry.rawBody === "{}").map((entry) => entry.connection);
    expect(new Set(sends).size).toBe(3);
    expect(sends.some((connection) => others.includes(connection))).toBe(false);
  });
});
