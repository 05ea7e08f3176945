/** What the demo says on the terminal: numbered steps, short paragraphs, commands, quoted texts. */
import process from "node:process";
import { wrapText } from "../../lib/text/wrap.ts";

const isPlain = !process.stdout.isTTY || (process.env.NO_COLOR ?? "") !== "";
const paint = (code: number, text: string) => (isPlain ? text : `\u001B[${code}m${text}\u001B[0m`);
/** A terminal that does not know its width says 0. */
const columns = () => process.stdout.columns || 100;
let steps = 0;

/** Begins the next act. */
export function act(title: string): void {
  process.stdout.write(`\n${paint(1, `== ${title} ==`)}\n`);
}

/** Begins the next step. */
export function step(title: string): void {
  steps += 1;
  process.stdout.write(`\n${paint(1, `${steps}. ${title}`)}\n`);
}

/** A paragraph of explanation, wrapped to the terminal. */
export function say(text: string): void {
  const width = Math.min(columns(), 100) - 3;
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trimStart();
    if (line.length <= width) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  process.stdout.write(lines.map((line) => `   ${line}\n`).join(""));
}

/** A command that is about to run. */
export function showCommand(args: string[]): void {
  const words = args.map((word) => (/^[\w.:/=-]+$/.test(word) ? word : `"${word}"`));
  process.stdout.write(`\n   ${paint(36, `$ opsctl ${words.join(" ")}`)}\n`);
}

/** How a command ended. */
export function showExit(exitCode: number | null): void {
  process.stdout.write(`   ${paint(36, `→ exit code ${exitCode}`)}\n`);
}

/** An empty line. */
export function blank(): void {
  process.stdout.write("\n");
}

/** A text as it was received, indented; lines wider than the terminal are wrapped. */
export function quote(text: string): void {
  const room = Math.max(20, Math.min(columns(), 120) - 6);
  for (const line of text
    .trimEnd()
    .split("\n")
    .flatMap((one) => wrapText(one, room)))
    process.stdout.write(`   ${paint(90, "│")} ${line}\n`);
}

/** Rows of two columns. */
export function table(rows: [string, string][]): void {
  const width = Math.max(...rows.map(([left]) => left.length));
  for (const [left, right] of rows) process.stdout.write(`   ${left.padEnd(width)}  ${paint(90, right)}\n`);
}
