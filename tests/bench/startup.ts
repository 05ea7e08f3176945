/** How long and how much memory light commands take, against a compiled program that only says hello. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { refusedPort } from "../standins/raw-peer.ts";
import { findDebianTool } from "../support/debian-tool.ts";
import { OPSCTL, ROOT, timeOf } from "./child.ts";
import { type Figure, median } from "./figure.ts";

const RUNS = 60;
const MEMORY_RUNS = 7;
const MIB = 1_048_576;
/** Of commit 0c66f874, the last one before the parts were rebuilt. */
const CODE_BEFORE_BYTES = 1_133_795;

/** Commands that tell of opsctl itself, and what a shell asks at each tab. */
const ABOUT = [
  ["help", "weekly"],
  ["version"],
  ["completion", "bash"],
  ["explain", "APP_HTTP_401"],
  ["internal", "complete", "words", "reports", "list", "--state", ""],
];

/** Something that is started, and how long it takes to the moment that counts. */
type Start = { measure: string; once: () => number | Promise<number>; goal?: Figure["goal"] };

/** Times and memory. */
export async function startupFigures(): Promise<Figure[]> {
  const hello = compiled("hello", 'console.log("hello");');
  const driver = compiled("driver", DRIVER_ALONE);
  const migrate = "start of opsctl migrate --status, to its first connection";
  const refused = `postgres://nobody:none@127.0.0.1:${await refusedPort()}/none`;
  const starts: Start[] = [
    {
      measure: "start of opsctl --version",
      once: () => timeOf([OPSCTL, "--version"], {}),
      goal: { atMost: 1.6 },
    },
    { measure: "start of opsctl --help", once: () => timeOf([OPSCTL, "--help"], {}), goal: { atMost: 1.6 } },
    ...ABOUT.map((words) => ({
      measure: `start of opsctl ${words.join(" ")}`,
      once: () => timeOf([OPSCTL, ...words], {}),
      goal: { atMost: 1.6 },
    })),
    { measure: migrate, once: () => untilDatabaseSees("connection"), goal: { atMost: 2.5 } },
    { measure: "  the same to the driver's first words on it", once: () => untilDatabaseSees("data") },
    {
      measure: "  the same to its end, the connection refused",
      once: () => timeOf([OPSCTL, "migrate", "--status"], { DATABASE_URL: refused }),
    },
    { measure: "  a program that only imports the driver", once: () => timeOf([driver], {}) },
  ];
  return [...(await timesOf(starts, () => timeOf([hello], {}))), memoryFigure(hello), await codeFigure()];
}

/** They take turns with the baseline, so that a noisy moment meets them all. */
async function timesOf(starts: Start[], baselineOnce: () => number): Promise<Figure[]> {
  const baselineMs: number[] = [];
  const tookMs = starts.map((): number[] => []);
  for (let i = 0; i < RUNS; i += 1) {
    for (const [at, { once }] of starts.entries()) {
      baselineMs.push(baselineOnce());
      tookMs[at]!.push(await once());
    }
  }
  const baseline = median(baselineMs);
  return starts.map(({ measure, goal }, at) => ({
    measure,
    value: `${median(tookMs[at]!).toFixed(1)} ms`,
    baseline: `${baseline.toFixed(1)} ms`,
    ratio: median(tookMs[at]!) / baseline,
    ...(goal === undefined ? {} : { goal }),
  }));
}

function memoryFigure(hello: string): Figure {
  const measure = "memory of opsctl --version";
  const goal = { atMost: 1.4 };
  const time = findDebianTool({ program: "time", packageName: "time" });
  if (time === null) return { measure, value: "not measured: no time", goal };
  const [helloPeak, versionPeak] = [peakOf(time, [hello]), peakOf(time, [OPSCTL, "--version"])];
  return {
    measure,
    value: `${(versionPeak / MIB).toFixed(1)} MiB`,
    baseline: `${(helloPeak / MIB).toFixed(1)} MiB`,
    ratio: versionPeak / helloPeak,
    goal,
  };
}

/** The own code, SQL and texts as one minified bundle, without runtime and packages, against what it was before it was rebuilt. */
async function codeFigure(): Promise<Figure> {
  const built = await Bun.build({
    entrypoints: [join(ROOT, "cli/main.ts")],
    target: "bun",
    packages: "external",
    minify: true,
  });
  const bytes = built.outputs.reduce((sum, { size }) => sum + size, 0);
  return {
    measure: "own code, minified",
    value: `${(bytes / 1_000).toFixed(0)} kB`,
    baseline: `${(CODE_BEFORE_BYTES / 1_000).toFixed(0)} kB`,
    ratio: bytes / CODE_BEFORE_BYTES,
    goal: { atMost: 0.6 },
  };
}

/** From the start of a command that loads the driver to its connection to the database, or to its first words on it. */
async function untilDatabaseSees(event: "connection" | "data"): Promise<number> {
  const seen = Promise.withResolvers<number>();
  const server = createServer((socket) => {
    const see = () => {
      seen.resolve(performance.now());
      socket.destroy();
    };
    if (event === "connection") see();
    else socket.once("data", see);
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
  const tookMs = (await seen.promise) - startedMs;
  child.kill("SIGKILL");
  await child.exited;
  await new Promise((resolve) => server.close(resolve));
  return tookMs;
}

/** The least time of a command that loads the driver. */
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

/**
 * The peak memory of a program that lives a few milliseconds, as `time` tells it.
 *
 * Source: getrusage(2): what the kernel reports of a finished process begins with the memory of the process that
 *         started it, so a small one has to.
 */
function peakOf(time: string, words: string[]): number {
  const peaks = Array.from({ length: MEMORY_RUNS }, () => {
    const { stderr } = Bun.spawnSync([time, "-f", "%M", ...words], { env: {}, stdout: "ignore" });
    return Number(stderr.toString().trim()) * 1024;
  });
  return median(peaks);
}
