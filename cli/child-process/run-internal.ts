/**
 * The work that opsctl does in a child process: with fewer privileges, or so that it can be killed.
 *
 * `internal write-metrics <file>`        replaces the metrics file with the text on standard input.
 * `internal read-last-run <file>`        prints the text of the weekly run's last-run file.
 * `internal count-outbox <file>`         prints what a state file holds, as one line of JSON.
 * `internal secret-facts <folder>`       prints what the account's environment files in that folder say about secrets,
 *                                        never a value, as one line of JSON.
 * `internal doctor <folder> <commands> <order>`
 *                                        runs doctor's checks with the environment files of that folder, and prints the
 *                                        findings of each check when it ends, as one line of JSON; the first line,
 *                                        which is empty, says that the checks begin.
 * `internal complete words|line …`       prints what can stand at the cursor, for the completion of a shell; started
 *                                        by the shell's script, not by opsctl.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import type { CommandName } from "../../lib/doctor/finding.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { EXIT } from "../framework/exit-status.ts";
import { writeOut } from "../framework/streams/output.ts";
import { handedSecret } from "./handed-input.ts";
import type { DoctorOrder, InternalWord } from "./internal-command.ts";
import { INTERNAL } from "./internal-word.ts";

const STDIN = 0;

const WORDS = {
  "write-metrics": writeMetrics,
  "read-last-run": printLastRun,
  "count-outbox": countOutbox,
  "secret-facts": printSecretFacts,
  doctor: runChecks,
} as const satisfies Record<InternalWord, (path: string, ...more: [string, string]) => Promise<void>>;

/**
 * Does the work of one of these words and returns the exit status.
 *
 * Errors: none thrown; a failure is one line of JSON on standard output with `code`, `message` and `hint`.
 */
export async function runInternal(words: readonly string[]): Promise<number> {
  const [word = "", path = "", more = "", last = ""] = words;
  if (word === "complete") {
    const { printOffers } = await import("../completion/print-offers.ts");
    await printOffers(words.slice(1), new Date());
    return EXIT.ok;
  }
  try {
    if (!Object.hasOwn(WORDS, word) || !path.startsWith("/"))
      throw new OpsError({ code: "USAGE_INVALID", message: "opsctl internal is for opsctl itself" });
    await WORDS[word as InternalWord](path, more, last);
    return EXIT.ok;
  } catch (error) {
    const { asOpsError } = await import("../framework/failure.ts");
    const { code, message, hint } = asOpsError(error, `run opsctl ${INTERNAL}`);
    writeOut(`${JSON.stringify({ code, message, hint })}\n`);
    return EXIT.failed;
  }
}

async function writeMetrics(path: string): Promise<void> {
  const { writeMetricsFile } = await import("../../lib/metrics/write-metrics-file.ts");
  try {
    writeMetricsFile(path, readFileSync(STDIN, "utf8"));
  } catch (error) {
    throw fileFailure(path, error instanceof OpsError ? error.cause : error);
  }
}

async function printLastRun(path: string): Promise<void> {
  const { readLastRunText } = await import("../../lib/last-run/read.ts");
  try {
    writeOut(readLastRunText(path));
  } catch (error) {
    throw fileFailure(path, error);
  }
}

/** The file system's code alone: the process that started this one takes nothing else from its output. */
function fileFailure(path: string, error: unknown): OpsError {
  const { code = "unexpected" } = Object(error) as NodeJS.ErrnoException;
  return new OpsError({ code, message: `Cannot use ${path}: ${code}` });
}

async function countOutbox(path: string): Promise<void> {
  const { readStateFile } = await import("../../lib/doctor/facts/outbox.ts");
  const reading = await readStateFile(path, Date.now);
  writeOut(`${JSON.stringify(reading)}\n`);
}

async function printSecretFacts(envDir: string): Promise<void> {
  const { ACCOUNT_COMMANDS, readFileFacts } = await import("../../lib/secret/file-facts.ts");
  writeOut(`${JSON.stringify(readFileFacts(ACCOUNT_COMMANDS, envDir))}\n`);
}

async function runChecks(envDir: string, commands: string, order: string): Promise<void> {
  const { isNamed, limitMs, account } = JSON.parse(order) as DoctorOrder;
  const { checksFor } = await import("../../lib/doctor/checks/all.ts");
  const { runDoctor } = await import("../../lib/doctor/run.ts");
  const { openDoctorDependencies } = await import("../wiring/host/doctor.ts");
  const { redactValues } = await import("../../lib/platform/secrets/redact.ts");
  const { parseHanded } = await import("../../lib/doctor/context/handed-login.ts");
  const handed = handedSecret();
  const handedLogin = handed === null ? null : parseHanded(handed.text, handed.isClosed);
  const checks = checksFor(commands.split(",") as CommandName[], { isNamed });
  writeOut("\n");
  await runDoctor(
    openDoctorDependencies({
      env: process.env,
      envDir,
      handedLogin,
      limitMs,
      findAccount: async () => account,
    }),
    checks,
    ({ command, name }, findings) =>
      writeOut(`${JSON.stringify(redactValues({ command, check: name, findings }))}\n`),
  );
}
