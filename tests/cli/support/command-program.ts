/** A program of one command that misbehaves as its first argument says, run by `run-command.test.ts` as a process. */
import process from "node:process";
import * as v from "valibot";
import { parseWords } from "../../../cli/args/parse.ts";
import { defineCommand, type Outcome } from "../../../cli/framework/command.ts";
import { runCommand } from "../../../cli/framework/run-command.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";

const secret = new Secret("canary-of-the-program");
const [mode, ...rawArgs] = process.argv.slice(2);

function whole(bytes: number): Outcome {
  const fields = {
    filler: "x".repeat(bytes),
    secret: secret.open(),
    mail: "maria@example.com",
  };
  return { fields, text: `done ${secret.open()}\n` };
}

const modes: Record<string, () => Promise<Outcome>> = {
  ok: async () => whole(1),
  large: async () => whole(3_000_000),
  async failing() {
    return { ...whole(1), exitCode: 1 };
  },
  async opsError() {
    throw new OpsError({ code: "CONFIG_INVALID", message: `bad ${secret.open()}`, hint: "mend it" });
  },
  async unexpected() {
    throw new TypeError(`boom ${secret.open()}`);
  },
  async quotingSchema() {
    return v.parse(v.object({ fields: v.object({}), text: v.string() }), "canary-data");
  },
  async quotingJson() {
    return JSON.parse("canary-json");
  },
  async quotingText() {
    throw "canary-text";
  },
  async systemError() {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
      syscall: "write",
    });
  },
  async missingFile() {
    throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT", syscall: "open" });
  },
  async lostDatabase() {
    throw Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" });
  },
  async unhandledRejection() {
    void Promise.reject(new TypeError(`boom ${secret.open()}`));
    return await new Promise(() => setInterval(() => {}, 1_000));
  },
  async uncaughtException() {
    setTimeout(() => {
      throw new TypeError(`boom ${secret.open()}`);
    });
    return await new Promise(() => setInterval(() => {}, 1_000));
  },
  async crashAfterResult() {
    setTimeout(() => {
      throw new TypeError(`boom ${secret.open()}`);
    }, 50);
    return whole(1);
  },
};

const command = defineCommand({
  args: {},
  isUnattended: process.env.UNATTENDED === "1",
  example: "opsctl test",
  run: () => (modes[mode as string] as (typeof modes)[string])(),
});

const parsed = await parseWords(rawArgs, command);
if ("problem" in parsed) throw new Error(parsed.problem);
process.exitCode = await runCommand("test", command, parsed);
