import { until } from "../support/until.ts";
import { type Asked, type Namespace, openNamespace, type Question } from "./namespace.ts";

/** The addresses of the host. */
export const HOST = { v4: "203.0.113.1", v6: "2001:db8::1" };

/** Addresses of others; 172.32.0.2 and 11.0.0.2 are the neighbours of the two container ranges. */
export const OTHERS = {
  stranger: "203.0.113.2",
  strangerV6: "2001:db8::2",
  containers: ["172.16.0.2", "172.31.255.2", "10.0.0.2", "10.255.255.2"],
  beyond: ["172.15.255.2", "172.32.0.2", "9.255.255.2", "11.0.0.2", "192.168.1.2"],
};

/** A host and one wire, at whose other end all the others are. */
export type Wire = {
  host: Namespace;
  others: Namespace;
  /** Waits for the answer; throws, saying which, where none comes. */
  answers(question: Question, by?: Namespace): Promise<void>;
  /** What became of the question, once later ones over the same wire have their answers. */
  outcome(question: Question): Promise<Asked | "dropped">;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Port of the questions that are always let through, if nothing but port 9300 is closed. */
export const OPEN_PORT = 22;

/**
 * Lays the wire; `words` from `namespaceWords` open the host's namespace and, unless `othersWords` says otherwise, that
 * of the others, too. On `ports` the host returns what it gets.
 */
export async function layWire(
  words: string[],
  { othersWords = words, ports = [OPEN_PORT, 9300] }: { othersWords?: string[]; ports?: number[] } = {},
): Promise<Wire> {
  const host = await openNamespace(words);
  const others = await openNamespace(othersWords, { beside: host });
  await host.must(["ip", "link", "add", "wire0", "type", "veth", "peer", "wire1", "netns", `${others.pid}`]);
  const { stranger, strangerV6, containers, beyond } = OTHERS;
  await bringUp(host, "wire0", [HOST.v4, HOST.v6]);
  await bringUp(others, "wire1", [stranger, strangerV6, ...containers, ...beyond]);
  for (const port of ports) await host.serve(port);
  return {
    host,
    others,
    answers: (question, by = others) => answers(by, question),
    outcome: (question) => outcome(others, question),
    async [Symbol.asyncDispose]() {
      await Promise.all([host[Symbol.asyncDispose](), others[Symbol.asyncDispose]()]);
    },
  };
}

async function bringUp(namespace: Namespace, device: string, addresses: string[]): Promise<void> {
  for (const address of addresses) {
    const words = address.includes(":") ? [`${address}/64`, "nodad"] : [`${address}/24`];
    await namespace.must(["ip", "address", "add", ...words, "dev", device]);
  }
  for (const name of ["lo", device]) await namespace.must(["ip", "link", "set", name, "up"]);
  await namespace.must(["ip", "route", "add", "default", "dev", device]);
}

async function answers(by: Namespace, question: Question): Promise<void> {
  let asked: string | undefined;
  void by.ask(question).then((result) => {
    asked = result;
  });
  const what = `${question.protocol} from ${question.from} to port ${question.port} of ${question.to}`;
  await until(`an answer: ${what}`, () => asked !== undefined);
  if (asked !== "answered") throw new Error(`${what}: ${asked}`);
}

async function outcome(others: Namespace, question: Question): Promise<Asked | "dropped"> {
  let asked: Asked | "dropped" = "dropped";
  void others.ask(question).then((result) => {
    asked = result;
  });
  // A wire keeps its order: what was let through has its answer before these have theirs.
  for (let times = 0; times < 3; times += 1) await answers(others, openQuestion(question));
  return asked;
}

function openQuestion({ to }: Question): Question {
  const from = to.includes(":") ? OTHERS.strangerV6 : OTHERS.stranger;
  return { protocol: "tcp", from, to, port: OPEN_PORT };
}
