/** How long and how much memory light commands take, against a compiled program that only says hello. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { refusedPort } from "../standins/raw-peer.ts";
import { OPSCTL, peakOfShortRun, ROOT, timeOf } from "./child.ts";
import { type Figure, median } from "./figure.ts";

const RUNS = 60;
const MEMORY_RUNS = 7;
const MIB = 1_048_576;

type Command = { name: string; words: string[]; env: Record<string, string> };

/** Times and memory; the commands take turns, so that a noisy moment meets them all. */
export async function startupFigures(): Promise<Figure[]> {
  const hello = { name: "hello", words: [compiled("hello", 'console.log("hello");')], env: {} };
  const driver = { name: "driver", words: [compiled("driver", DRIVER_ALONE)], env: {} };
  const version = { name: "opsctl --version", words: [OPSCTL, "--version"], env: {} };
  const help = { name: "opsctl --help", words: [OPSCTL, "--help"], env: {} };
  const database = {
    name: "opsctl migrate --status, database refused",
    words: [OPSCTL, "migrate", "--status"],
    env: { DATABASE_URL: `postgres://nobody:none@127.0.0.1:${await refusedPort()}/none` },
  };
  const times = timesOf([hello, driver, version, help, database]);
  const against = (command: Command): Figure => ({
    measure: `start of ${command.name}`,
    value: `${times.get(command)!.toFixed(1)} ms`,
    baseline: `${times.get(hello)!.toFixed(1)} ms`,
    ratio: times.get(command)! / times.get(hello)!,
  });
  const time = (command: Command, atMost: number): Figure => ({ ...against(command), goal: { atMost } });
  const helloPeak = await peakOf(hello);
  const versionPeak = await peakOf(version);
  const memory: Figure = {
    measure: "memory of opsctl --version",
    value: `${(versionPeak / MIB).toFixed(1)} MiB`,
    baseline: `${(helloPeak / MIB).toFixed(1)} MiB`,
    ratio: versionPeak / helloPeak,
    goal: { atMost: 1.4 },
  };
  const floor = { ...against(driver), measure: "  a program that only imports the driver" };
  const whole = { ...against(database), measure: "  the same to its end, the connection refused" };
  return [time(version, 1.6), time(help, 1.6), await untilConnected(times.get(hello)!), whole, floor, memory];
}

/** From the start of a command that loads the driver until the database sees its first connection. */
async function untilConnected(helloMs: number): Promise<Figure> {
  const tookMs: number[] = [];
  for (let i = 0; i < RUNS; i += 1) tookMs.push(await oneConnection());
  const ms = median(tookMs);
  return {
    measure: "start of opsctl migrate --status, to its first connection",
    value: `${ms.toFixed(1)} ms`,
    baseline: `${helloMs.toFixed(1)} ms`,
    ratio: ms / helloMs,
    goal: { atMost: 2.5 },
  };
}

async function oneConnection(): Promise<number> {
  const connected = Promise.withResolvers<number>();
  const server = createServer((socket) => {
    connected.resolve(performance.now());
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const startedMs = performance.now();
  const child = Bun.spawn([OPSCTL, "migrate", "--status"], {
    env: { DATABASE_URL: `postgres://nobody:none@127.0.0.1:${port}/none` },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const tookMs = (await connected.promise) - startedMs;
  child.kill("SIGKILL");
  await child.exited;
  await new Promise((resolve) => server.close(resolve));
  return tookMs;
}

/** What no command that loads the driver can be faster than. */
const DRIVER_ALONE = 'import postgres from "postgres"; console.log(typeof postgres);';

/** A baseline, compiled in this run with the flags of `make build` as far as they make a program faster. */
function compiled(name: string, text: string): string {
  const folder = join(ROOT, ".bench");
  mkdirSync(folder, { recursive: true });
  const [source, program] = [join(folder, `${name}.ts`), join(folder, name)];
  writeFileSync(source, `${text}\n`);
  const flags = ["--compile", "--minify", "--bytecode", "--format=esm"];
  const { exitCode, stderr } = Bun.spawnSync(
    [process.execPath, "build", ...flags, source, "--outfile", program],
    { cwd: folder },
  );
  if (exitCode !== 0) throw new Error(`The baseline could not be compiled: ${stderr}`);
  return program;
}

function timesOf(commands: Command[]): Map<Command, number> {
  const times = new Map<Command, number[]>(commands.map((command) => [command, []]));
  for (let i = 0; i < RUNS; i += 1) {
    for (const command of commands) times.get(command)!.push(timeOf(command.words, command.env));
  }
  return new Map([...times].map(([command, all]) => [command, median(all)]));
}

async function peakOf({ words, env }: Command): Promise<number> {
  const peaks: number[] = [];
  for (let i = 0; i < MEMORY_RUNS; i += 1) peaks.push(await peakOfShortRun(words, env));
  return median(peaks);
}
