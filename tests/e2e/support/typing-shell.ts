/** A shell on a pseudo terminal, with opsctl's completion, into which a test types. */
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { opsctlBinary } from "../../support/binary.ts";

/** Types into the shell; `dispose` ends it. */
export type TypingShell = {
  /** The command line after a tab behind `line`. */
  completed(line: string): Promise<string>;
  dispose(): Promise<void>;
};

const TAB = "\t";
const [LINE_START, LINE_END] = ["\x01", "\x05"];

/** Starts the shell, with `opsctl` on its path; `setUp` makes it load the completion. */
export async function typingShell(
  command: string[],
  { setUp, env }: { setUp: string; env: Record<string, string> },
): Promise<TypingShell> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-typing-"));
  symlinkSync(await opsctlBinary(), join(folder, "opsctl"));
  let shown = "";
  let heard = () => {};
  const shell = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: `${folder}:/usr/bin:/bin`, HOME: folder, TERM: "dumb", ...env },
    terminal: {
      cols: 200,
      rows: 50,
      data(_terminal, bytes) {
        shown += new TextDecoder().decode(bytes);
        heard();
      },
    },
  });
  const type = async (keys: string, answer: RegExp): Promise<string> => {
    shown = "";
    shell.terminal!.write(keys);
    for (;;) {
      const found = answer.exec(shown);
      if (found !== null) return found[1] ?? "";
      await new Promise<void>((resolve) => {
        heard = resolve;
      });
    }
  };
  // The echo of what is typed must not look like the answer.
  await type(`${setUp}; echo rea''dy\n`, /ready\r\n/);
  return {
    completed: (line) =>
      type(`${line}${TAB}${LINE_START}echo be''gin ${LINE_END} e''nd\n`, /begin (.*?) *end\r\n/),
    async dispose() {
      shell.kill("SIGKILL");
      await shell.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
