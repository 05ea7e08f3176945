import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { Allowance } from "../../../lib/platform/server/allowance.ts";
import { RequestGate } from "../../../lib/platform/server/request-gate.ts";
import { until } from "../../support/until.ts";

const HEAD = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** What a gate hands on of `arriving`, of which each piece comes when the one before it has been handed on. */
async function handedOn(arriving: string[]): Promise<string[]> {
  const pieces: string[] = [];
  const allowances = { unreadBytes: new Allowance(1_000_000), waitingClosers: new Allowance(1) };
  const server = createServer((raw) =>
    raw.once("data", (first: Buffer) =>
      new RequestGate(raw, first, allowances, () => {}).on("data", (piece) => pieces.push(String(piece))),
    ),
  );
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  const sender = connect({ port: (server.address() as { port: number }).port, host: "127.0.0.1" });
  let sent = "";
  for (const piece of arriving) {
    sender.write(piece);
    sent += piece;
    await until("it is handed on", () => pieces.join("") === sent);
  }
  sender.destroy();
  return pieces;
}

test.each([1, 2, 3, 4])("RequestGate cuts behind a head whose last %d bytes come later", async (bytes) => {
  const end = HEAD.slice(-bytes);
  expect(await handedOn([HEAD.slice(0, -bytes), end + HEAD + HEAD])).toEqual([
    HEAD.slice(0, -bytes),
    end,
    HEAD,
    HEAD,
  ]);
});

test("RequestGate cuts behind a head that comes byte by byte", async () => {
  const bytes = [...HEAD];
  const last = bytes.pop()!;
  expect(await handedOn([...bytes, last + HEAD])).toEqual([...bytes, last, HEAD]);
});

test("RequestGate hands blank lines on at once, with the head behind them", async () => {
  const blanks = "\r\n".repeat(1_000);
  expect(await handedOn([blanks, blanks + HEAD + HEAD])).toEqual([blanks, blanks + HEAD, HEAD]);
});
