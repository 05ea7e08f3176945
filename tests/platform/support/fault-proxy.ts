/** A proxy in front of PostgreSQL that loses what is sent, cuts answers, and breaks connections. */
import { connect, type Socket } from "node:net";
import { type Listening, listen } from "./wire.ts";

/** The proxy; every fault is for the connections that are open at that moment, so that new ones work. */
export type FaultProxy = Listening & {
  /** Loses everything that is sent from now on in this direction; the connections stay open. */
  lose(direction: "statements" | "answers"): void;
  /** Loses the statements that name `text`, on every connection, with everything after them. */
  loseFrom(text: string): void;
  /** Lets the next answer to each connection end in the middle of the row that has `text`. */
  cutRow(text: string, then: "break" | "hang"): void;
  /** Breaks every connection. */
  cut(): void;
};

type Pair = { client: Socket; lost: Set<"statements" | "answers">; row?: { text: string; breaks: boolean } };

/** Passes everything on to `port`; `rewrite` may change what the server says. */
export async function faultProxy(port: number, rewrite = (bytes: Buffer) => bytes): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let unwanted: string | undefined;
  const listening = await listen((client) => {
    const pair: Pair = { client, lost: new Set() };
    pairs.add(pair);
    const upstream = connect(port, "127.0.0.1");
    client.on("data", (bytes: Buffer) => {
      if (unwanted !== undefined && bytes.includes(unwanted)) pair.lost.add("statements");
      if (!pair.lost.has("statements")) upstream.write(bytes);
    });
    upstream.on("error", () => {}).on("close", () => client.destroy());
    upstream.on("data", (bytes: Buffer) => {
      if (pair.lost.has("answers")) return;
      const { row } = pair;
      const at = row === undefined ? -1 : bytes.indexOf(row.text);
      if (at === -1) return void client.write(rewrite(bytes));
      pair.lost.add("answers");
      client.write(bytes.subarray(0, at + 1), () => {
        if (row?.breaks) client.destroy();
      });
    });
    client.on("close", () => {
      pairs.delete(pair);
      upstream.destroy();
    });
  });
  return Object.assign(listening, {
    lose(direction: "statements" | "answers") {
      for (const { lost } of pairs) lost.add(direction);
    },
    loseFrom(text: string) {
      unwanted = text;
    },
    cutRow(text: string, then: "break" | "hang") {
      for (const pair of pairs) pair.row = { text, breaks: then === "break" };
    },
    cut() {
      for (const { client } of pairs) client.destroy();
    },
  });
}
