import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

/** One exchange: from an address of the namespace to an address and port elsewhere. */
export type Question = { protocol: "tcp" | "udp"; from: string; to: string; port: number };

/** How an exchange ended; one that is dropped on its way never ends. */
export type Asked = "answered" | "refused";

/** What the process in the namespace can be told to do. */
export type Task =
  | { kind: "run"; words: string[] }
  | { kind: "serve"; port: number }
  | { kind: "ask"; question: Question }
  | { kind: "seen" };

/** How a program that ran in a namespace ended. */
export type RanInside = { status: number | null; output: string };

/** A network of its own: no interface but loopback, no rule of a firewall, gone with its process. */
export type Namespace = {
  pid: number;
  run(words: string[]): Promise<RanInside>;
  /** The same, for what has to succeed. */
  must(words: string[]): Promise<string>;
  /** Returns what arrives at this port, on TCP and UDP, IPv4 and IPv6. */
  serve(port: number): Promise<void>;
  ask(question: Question): Promise<Asked>;
  /** The connections that were accepted: `tcp 9300 203.0.113.2`. */
  seen(): Promise<string[]>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** How this account may make namespaces, the words of unshare; null where it may not. */
export function namespaceWords(): string[] | null {
  const ways = [
    ["unshare", "--net"],
    ["unshare", "--user", "--map-root-user", "--net"],
  ];
  return ways.find(([program, ...words]) => spawnSync(program!, [...words, "true"]).status === 0) ?? null;
}

/** Opens a namespace with the words of `namespaceWords`; another one owned by the same user namespace `beside` one. */
export async function openNamespace(
  words: string[],
  { beside }: { beside?: Namespace } = {},
): Promise<Namespace> {
  const within = words.includes("--user") && beside !== undefined;
  const enter = [
    "nsenter",
    `--target=${beside?.pid}`,
    "--user",
    "--preserve-credentials",
    "unshare",
    "--net",
  ];
  const agent = [process.execPath, join(import.meta.dirname, "agent.ts")];
  const [program, ...rest] = [...(within ? enter : words), ...agent];
  const namespace = namespaceOf(spawn(program!, rest, { stdio: ["pipe", "pipe", "inherit"] }));
  // Until it answers, it has not entered its namespaces.
  await namespace.seen();
  return namespace;
}

function namespaceOf(child: ReturnType<typeof spawn>): Namespace {
  const waiting = new Map<number, (result: never) => void>();
  createInterface({ input: child.stdout! }).on("line", (line) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result as never);
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let last = 0;
  const perform = <T>(task: Task) =>
    new Promise<T>((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      child.stdin!.write(`${JSON.stringify({ id: last, task })}\n`);
    });
  const run = (words: string[]) => perform<RanInside>({ kind: "run", words });
  return {
    pid: child.pid!,
    run,
    must: async (words) => succeeded(words, await run(words)),
    serve: (port) => perform({ kind: "serve", port }),
    ask: (question) => perform({ kind: "ask", question }),
    seen: () => perform({ kind: "seen" }),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function succeeded(words: string[], { status, output }: RanInside): string {
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${output}`);
  return output;
}
