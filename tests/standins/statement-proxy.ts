/** A relay in front of PostgreSQL that lets a test act right before, or right after, a statement of its choice. */
import { Buffer } from "node:buffer";
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../support/free-port.ts";

/** What a test does there, and is waited for; "cut" breaks the connection, everything else lets the statement go on. */
type Act = () => unknown;

/**
 * One statement of a run, and what happens there.
 *
 * Shape: `text` is in the statement, such as the name of a function of SQL; `of` is among its parameters; `nth` counts
 *        such statements from 1, and `every` stands for each of them.
 */
export type Moment = {
  when: "before" | "after";
  text: string;
  act: Act;
  of?: string | undefined;
  nth: number | "every";
};

/** Which of the statements that have the text; the first one when nothing is said. */
export type Which = { of?: string; nth?: number | "every" };

/** Acts before the server gets the statement; the statement waits for it. */
export function before(text: string, act: Act, { of, nth = 1 }: Which = {}): Moment {
  return { when: "before", text, act, of, nth };
}

/** Acts when the server has carried the statement out; its answer waits for it. */
export function after(text: string, act: Act, { of, nth = 1 }: Which = {}): Moment {
  return { when: "after", text, act, of, nth };
}

/** The statement is carried out, and its connection breaks in the place of the answer. */
export function answerLost(text: string, which: Which = {}): Moment {
  return after(text, () => "cut", which);
}

/** A running relay. */
export type StatementProxy = {
  /** The way to the same database through this relay. */
  url: string;
  /** Stops; fails with what an act has thrown, and when a moment has never come. */
  stop(): Promise<void>;
};

/** Starts a relay to a database of this machine. Works on connections without TLS. */
export async function startStatementProxy(databaseUrl: string, moments: Moment[]): Promise<StatementProxy> {
  const url = new URL(databaseUrl);
  const target = Number(url.port);
  const sockets = new Set<Socket>();
  const counts = moments.map(() => 0);
  const errors: unknown[] = [];

  /** The acts that this use of a statement has come to; without parameters those that ask for none. */
  const actsAt: Judge["actsAt"] = (when, text, { parameters, wasParsed = false }) =>
    moments.flatMap((moment, index) => {
      if (moment.when !== when || !text.includes(moment.text)) return [];
      if (wasParsed && when === "before" && moment.of === undefined) return [];
      if (moment.of !== undefined && !parameters?.includes(moment.of)) return [];
      counts[index]! += 1;
      return moment.nth === "every" || moment.nth === counts[index] ? [moment.act] : [];
    });

  const isCut = async (acts: Act[]): Promise<boolean> => {
    let cut = false;
    for (const act of acts) {
      try {
        cut = (await act()) === "cut" || cut;
      } catch (error) {
        errors.push(error);
      }
    }
    return cut;
  };

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    relay(client, upstream, { actsAt, isCut });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  url.port = String(port);
  return {
    url: url.href,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      if (errors.length > 0) throw errors[0];
      const missed = moments.find(({ nth }, index) => counts[index]! < (nth === "every" ? 1 : nth));
      if (missed)
        throw new Error(`Never came: ${missed.when} ${missed.text} ${missed.of ?? ""} ${missed.nth}`);
    },
  };
}

type Judge = {
  actsAt(when: Moment["when"], text: string, use: { parameters: Buffer | null; wasParsed?: boolean }): Act[];
  isCut(acts: Act[]): Promise<boolean>;
};

/** Relays one connection; the protocol is in "Frontend/Backend Protocol" of PostgreSQL's manual, Message Formats. */
function relay(client: Socket, upstream: Socket, { actsAt, isCut }: Judge): void {
  const statements = new Map<string, string>();
  /** Those that were parsed and not carried out yet. */
  const parsed = new Set<string>();
  /** The acts after an answer, by its number. */
  const acts = new Map<number, Act[]>();
  // The login is the first question.
  let [asked, answered] = [1, 0];

  /** The acts before the server gets this message. Parsing a statement is where it finds its functions. */
  const actsBefore = (type: string, message: Buffer): Act[] => {
    const first = textAt(message, 5);
    const second = textAt(message, message.indexOf(0, 5) + 1);
    if (type === "P") {
      statements.set(first, second);
      parsed.add(first);
      return actsAt("before", second, { parameters: null });
    }
    const text = type === "Q" ? first : type === "B" ? statements.get(second) : undefined;
    if (text === undefined) return [];
    const later = actsAt("after", text, { parameters: message });
    if (later.length > 0) acts.set(asked + 1, later);
    return actsAt("before", text, { parameters: message, wasParsed: type === "B" && parsed.delete(second) });
  };

  const forward = async (message: Buffer, isStartup: boolean): Promise<void> => {
    const type = isStartup ? "" : message.toString("latin1", 0, 1);
    const now = "PBQ".includes(type) && type !== "" ? actsBefore(type, message) : [];
    if (now.length > 0 && (await isCut(now))) return void client.destroy();
    if (type === "Q" || type === "S") asked += 1;
    upstream.write(message);
  };

  const withheld: Buffer[] = [];
  const giveBack = async (message: Buffer): Promise<void> => {
    const isWhole = message[0] === "Z".charCodeAt(0);
    const held = acts.get(answered + 1);
    if (isWhole) answered += 1;
    if (held === undefined) return void client.write(message);
    withheld.push(message);
    if (!isWhole) return;
    if (await isCut(held)) client.destroy();
    else client.write(Buffer.concat(withheld.splice(0)));
  };

  client.on("data", inOrder(messages({ startsUntyped: true }), forward));
  upstream.on("data", inOrder(messages({ startsUntyped: false }), giveBack));
}

function textAt(message: Buffer, at: number): string {
  return message.toString("utf8", at, message.indexOf(0, at));
}

/** Handles message by message, each when the one before it is done with. */
function inOrder(
  split: (bytes: Buffer) => [message: Buffer, isStartup: boolean][],
  handle: (message: Buffer, isStartup: boolean) => Promise<void>,
): (bytes: Buffer) => void {
  let turn = Promise.resolve();
  return (bytes) => {
    for (const [message, isStartup] of split(bytes)) turn = turn.then(() => handle(message, isStartup));
  };
}

/** Splits a stream into whole messages; the client's first one has no type before its length. */
function messages({ startsUntyped }: { startsUntyped: boolean }) {
  let rest: Buffer = Buffer.alloc(0);
  let isUntyped = startsUntyped;
  return (bytes: Buffer): [Buffer, boolean][] => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const whole: [Buffer, boolean][] = [];
    for (;;) {
      const at = isUntyped ? 0 : 1;
      if (rest.length < at + 4) return whole;
      const end = at + rest.readUInt32BE(at);
      if (rest.length < end) return whole;
      whole.push([rest.subarray(0, end), isUntyped]);
      rest = rest.subarray(end);
      isUntyped = false;
    }
  };
}
