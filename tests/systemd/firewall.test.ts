/** The nftables file in a network namespace, with Debian's nft and real packets from the other end of a wire. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namespaceWords, type Question } from "../network/namespace.ts";
import { HOST, layWire, OPEN_PORT, OTHERS, type Wire } from "../network/wire.ts";
import { findBusybox, findNft } from "../network/wire-tools.ts";
import { requires } from "../support/requires.ts";

const FILE = join(import.meta.dirname, "../../systemd/firewall/opsctl-webhook.nft");

const nft = findNft();
const words = namespaceWords();
const busybox = findBusybox();

const folder = mkdtempSync(join(tmpdir(), "opsctl-firewall-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tcp = (from: string, port = 9300): Question => ask("tcp", from, port);
const udp = (from: string, port: number): Question => ask("udp", from, port);

function ask(protocol: "tcp" | "udp", from: string, port: number): Question {
  return { protocol, from, to: from.includes(":") ? HOST.v6 : HOST.v4, port };
}

/** A wire whose host has loaded this file with nft. */
async function wireBehind(...files: string[]): Promise<Wire> {
  const wire = await layWire(words!);
  for (const file of files) await load(wire, file);
  return wire;
}

function load(wire: Wire, ...rest: string[]): Promise<string> {
  return wire.host.must([nft!, ...(rest.length === 1 ? ["-f"] : []), ...rest]);
}

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

requires("wire").describe("the nftables file", () => {
  test("closes port 9300 to all but the container ranges, which without it is open to all", async () => {
    await using wire = await wireBehind();
    for (const from of [...OTHERS.beyond, OTHERS.strangerV6]) await wire.answers(tcp(from));
    await load(wire, FILE);
    for (const from of OTHERS.containers) await wire.answers(tcp(from));
    for (const from of [...OTHERS.beyond, OTHERS.stranger, OTHERS.strangerV6])
      expect({ from, outcome: await wire.outcome(tcp(from)) }).toEqual({ from, outcome: "dropped" });
    const before = [...OTHERS.beyond, OTHERS.strangerV6];
    const accepted = (await wire.host.seen()).filter((line) => line.startsWith("tcp 9300"));
    expect(accepted).toEqual([...before, ...OTHERS.containers].map((from) => `tcp 9300 ${from}`));
  });

  test("leaves the host's own connections alone, to each of its addresses", async () => {
    await using wire = await wireBehind(FILE);
    for (const own of ["127.0.0.1", "::1", HOST.v4, HOST.v6])
      await wire.answers({ protocol: "tcp", from: own, to: own, port: 9300 }, wire.host);
  });

  test("leaves everything else alone: other ports, UDP, echo requests, IPv6 neighbours", async () => {
    await using wire = await wireBehind(FILE);
    for (const from of [OTHERS.stranger, OTHERS.strangerV6, "192.168.1.2"]) {
      await wire.answers(tcp(from, OPEN_PORT));
      for (const port of [OPEN_PORT, 9300]) await wire.answers(udp(from, port));
    }
    for (const { to, from } of [tcp(OTHERS.stranger), tcp(OTHERS.strangerV6)])
      expect(await wire.others.must([busybox!, "ping", "-c", "1", "-I", from, to])).toContain(
        "1 packets received",
      );
    for (const end of [wire.host, wire.others]) await end.must(["ip", "-6", "neigh", "flush", "all"]);
    await wire.answers(tcp(OTHERS.strangerV6, OPEN_PORT));
  });

  test("lets the host's own questions be answered from outside", async () => {
    await using wire = await wireBehind(FILE);
    await wire.others.serve(53);
    for (const protocol of ["udp", "tcp"] as const) {
      await wire.answers({ protocol, from: HOST.v4, to: OTHERS.stranger, port: 53 }, wire.host);
      await wire.answers({ protocol, from: HOST.v6, to: OTHERS.strangerV6, port: 53 }, wire.host);
    }
  });

  test("can be loaded again, also from nftables.conf, and touches no other table", async () => {
    const other =
      "table inet other {\n\tchain input {\n\t\ttype filter hook input priority filter; policy accept;\n\t}\n}\n";
    await using wire = await wireBehind(written("other.nft", other), FILE);
    const once = await load(wire, "list", "ruleset");
    await load(wire, FILE);
    expect(await load(wire, "list", "ruleset")).toBe(once);
    expect(await load(wire, "list", "table", "inet", "other")).toBe(other);
    expect(once.match(/^table .*/gm)).toEqual(["table inet other {", "table inet opsctl_webhook {"]);
    await load(wire, written("nftables.conf", `flush ruleset\ninclude "${FILE}"\n`));
    expect(await load(wire, "list", "ruleset")).toBe(once.replace(other, "").trimStart());
  });

  test("replaces what an earlier version of it left", async () => {
    const earlier =
      "table inet opsctl_webhook {\n\tchain input {\n\t\ttype filter hook input priority filter;\n\t\tdrop\n\t}\n}\n";
    await using wire = await wireBehind(written("earlier.nft", earlier), FILE);
    await wire.answers(tcp(OTHERS.stranger, OPEN_PORT));
  });
});
