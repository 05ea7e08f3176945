/**
 * Runs inside a network namespace and does there what the test asks for: one JSON object a line in, one a line out.
 *
 * Behaviour: ends with its standard input, and its namespace with it.
 */
import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Asked, Question, Task } from "./namespace.ts";

const seen: string[] = [];

function runProgram([program, ...words]: string[]): object {
  const { status, stdout, stderr, error } = spawnSync(program!, words, { encoding: "utf8" });
  return { status, output: error === undefined ? `${stdout}${stderr}` : error.message };
}

/** Returns what it gets, on TCP and UDP, IPv4 and IPv6. */
async function serve(port: number): Promise<object> {
  const tcp = createServer((socket) => {
    seen.push(`tcp ${port} ${socket.remoteAddress?.replace("::ffff:", "")}`);
    socket.on("error", () => {}).pipe(socket);
  });
  await new Promise<void>((resolve) => tcp.listen(port, "::", resolve));
  for (const family of ["udp4", "udp6"] as const) {
    const udp = createSocket({ type: family, ipv6Only: family === "udp6" });
    udp.on("message", (text, { address, port: from }) => udp.send(text, from, address));
    await new Promise<void>((resolve) => udp.bind(port, resolve));
  }
  return {};
}

function ask(question: Question): Promise<Asked> {
  return question.protocol === "tcp" ? askByTcp(question) : askByUdp(question);
}

function askByTcp({ from, to, port }: Question): Promise<Asked> {
  return new Promise((resolve) => {
    const socket = connect({ host: to, port, localAddress: from });
    // The kernel's answer: a service may take its time with its own.
    socket.once("connect", () => resolve("answered"));
    socket.once("connect", () => socket.destroy());
    socket.once("error", () => resolve("refused"));
  });
}

function askByUdp({ from, to, port }: Question): Promise<Asked> {
  return new Promise((resolve) => {
    const socket = createSocket(to.includes(":") ? "udp6" : "udp4");
    socket.once("message", () => resolve("answered"));
    socket.once("error", () => resolve("refused"));
    socket.bind(0, from, () => socket.send("ping", port, to));
  });
}

async function perform(task: Task): Promise<unknown> {
  if (task.kind === "run") return runProgram(task.words);
  if (task.kind === "serve") return serve(task.port);
  if (task.kind === "ask") return ask(task.question);
  return [...seen];
}

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, task } = JSON.parse(line) as { id: number; task: Task };
    process.stdout.write(`${JSON.stringify({ id, result: await perform(task) })}\n`);
  })
  .on("close", () => process.exit(0));
