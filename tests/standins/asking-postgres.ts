/** A server that speaks the part of PostgreSQL's protocol that a login needs, and keeps every byte that it gets. */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";

/** How it asks: `later` after a login without password, `byte by byte` in clear text too. */
export type Asking = "clear text" | "byte by byte" | "later" | "md5";

/** Whose password it expects, and how it asks for it. */
type Login = { asking: Asking; user: string; password: string };

/** A running server; `ledger` is every byte that came in, `logins` counts the passwords that were right. */
export type AskingPostgres = { port: number; ledger: Buffer[]; logins: number; stop(): Promise<void> };

const TLS_REQUEST = 80877103;
const CLEAR_TEXT = message("R", int32(3));
const WAITING = message("Z", Buffer.from("I"));
const READY = Buffer.concat([
  message("R", int32(0)),
  message("K", Buffer.concat([int32(4711), int32(1)])),
  WAITING,
]);
/** The answer to `select pg_backend_pid() as pid`, the one statement that comes. */
const PROCESS_ID = Buffer.concat([
  message("T", Buffer.from("\0\x01pid\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0", "latin1")),
  message("D", Buffer.from("\0\x01\0\0\0\x044711", "latin1")),
  message("C", Buffer.from("SELECT 1\0")),
  WAITING,
]);

/** Listens on `host`, without TLS. */
export async function startAskingPostgres(options: Login & { host: string }): Promise<AskingPostgres> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    serve(socket);
  });
  const running: AskingPostgres = {
    port: 0,
    ledger: [],
    logins: 0,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const serve = (socket: Socket) => new Session(socket, options, running);
  await new Promise<void>((resolve) => server.listen(0, options.host, resolve));
  running.port = (server.address() as { port: number }).port;
  return running;
}

class Session {
  readonly #socket: Socket;
  readonly #options: Login;
  readonly #running: AskingPostgres;
  readonly #salt = randomBytes(4);
  #bytes: Buffer = Buffer.alloc(0);
  #isStarted = false;

  constructor(socket: Socket, options: Login, running: AskingPostgres) {
    this.#socket = socket;
    this.#options = options;
    this.#running = running;
    socket.on("data", (bytes: Buffer) => {
      running.ledger.push(bytes);
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      while (this.#takeOne());
    });
  }

  /** Handles one whole message; false when there is none. */
  #takeOne(): boolean {
    const at = this.#isStarted ? 1 : 0;
    if (this.#bytes.length < at + 4) return false;
    const end = at + this.#bytes.readUInt32BE(at);
    if (this.#bytes.length < end) return false;
    const whole = this.#bytes.subarray(0, end);
    this.#bytes = this.#bytes.subarray(end);
    if (this.#isStarted) this.#answer(whole);
    else this.#start(whole);
    return true;
  }

  #start(startup: Buffer): void {
    if (startup.readUInt32BE(4) !== TLS_REQUEST) {
      this.#isStarted = true;
      this.#ask();
      return;
    }
    this.#socket.write("N");
  }

  #ask(): void {
    const { asking } = this.#options;
    if (asking === "later") this.#socket.write(Buffer.concat([READY, CLEAR_TEXT]));
    else if (asking === "md5") this.#socket.write(message("R", Buffer.concat([int32(5), this.#salt])));
    else if (asking === "clear text") this.#socket.write(CLEAR_TEXT);
    else this.#writeSlowly([...CLEAR_TEXT]);
  }

  #writeSlowly(bytes: number[]): void {
    const [first, ...rest] = bytes;
    if (first === undefined) return;
    this.#socket.write(Uint8Array.of(first), () => setImmediate(() => this.#writeSlowly(rest)));
  }

  #answer(whole: Buffer): void {
    const type = whole.toString("latin1", 0, 1);
    if (type === "Q") this.#socket.write(PROCESS_ID);
    if (type !== "p") return;
    if (whole.toString("utf8", 5, whole.length - 1) !== this.#expected()) this.#socket.destroy();
    else {
      this.#running.logins += 1;
      this.#socket.write(READY);
    }
  }

  #expected(): string {
    const { asking, user, password } = this.#options;
    if (asking !== "md5") return password;
    const hex = (bytes: Buffer | string) => createHash("md5").update(bytes).digest("hex");
    return `md5${hex(Buffer.concat([Buffer.from(hex(password + user)), this.#salt]))}`;
  }
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(4 + body.length), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
