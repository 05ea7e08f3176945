import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCALHOST_CERTIFICATE } from "../../standins/localhost-certificate.ts";
import { type RawPeer, startTlsPeer } from "../../standins/raw-peer.ts";
import { opsctl } from "../support/opsctl.ts";

/** Reads the hosting provider over HTTPS, with a token, in an environment that asks for no checks. */
async function readOverTls(peer: RawPeer, trust: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-certificates-"));
  writeFileSync(join(folder, "certificate.pem"), LOCALHOST_CERTIFICATE);
  const env = {
    OPSCTL_SECRETS_DIR: folder,
    OPSCTL_LOG_DIR: folder,
    DOCKER_HOST: `unix://${folder}/no.sock`,
    HOSTING_API_URL: `https://localhost:${peer.port}`,
    HOSTING_TOKEN: "canary-token",
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
    ...Object.fromEntries(Object.keys(trust).map((name) => [name, join(folder, "certificate.pem")])),
  };
  const ended = await opsctl(["collect-metrics", "--stdout"], { env });
  rmSync(folder, { recursive: true });
  return ended;
}

describe.concurrent("a read over TLS", () => {
  test("sends nothing to a service whose certificate is not trusted, whatever the environment says", async () => {
    const peer = await startTlsPeer("{}");
    try {
      const ended = await readOverTls(peer);
      expect(ended.stdout).toContain('opsctl_collector_up{source="hosting"} 0');
      expect(peer.requests).toBe(0);
    } finally {
      await peer.stop();
    }
  });

  test("calls a service whose certificate the operator trusts", async () => {
    const peer = await startTlsPeer("{}");
    try {
      await readOverTls(peer, { NODE_EXTRA_CA_CERTS: "" });
      expect(peer.requests).toBeGreaterThan(0);
    } finally {
      await peer.stop();
    }
  });
});

/** Sends a test alert over HTTPS to that name of this host, as every send to a provider goes. */
async function sendOverTls(url: string, trust: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-certificates-"));
  writeFileSync(join(folder, "certificate.pem"), LOCALHOST_CERTIFICATE);
  const env = {
    OPSCTL_SECRETS_DIR: folder,
    WEBHOOK_SECRET: "canary-secret",
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
    ...Object.fromEntries(Object.keys(trust).map((name) => [name, join(folder, "certificate.pem")])),
  };
  const ended = await opsctl(["webhook", "test", "--wait", "1", "--url", url], { env });
  rmSync(folder, { recursive: true });
  return ended;
}

describe.concurrent("a send over TLS", () => {
  const trusted = { NODE_EXTRA_CA_CERTS: "" };

  test.each([
    ["a certificate that is not trusted", "localhost", {}, "unreachable", 0],
    ["a trusted certificate of another name", "127.0.0.1", trusted, "unreachable", 0],
    ["a trusted certificate of its name", "localhost", trusted, "the answer was HTTP 200", 1],
  ] as const)("a send to a service with %s", async (_certificate, host, trust, said, requests) => {
    const peer = await startTlsPeer("{}");
    try {
      const { exitCode, stderr } = await sendOverTls(`https://${host}:${peer.port}/webhook`, trust);
      expect(stderr).toContain(said);
      expect(exitCode).toBe(1);
      expect(peer.requests).toBe(requests);
    } finally {
      await peer.stop();
    }
  });
});
