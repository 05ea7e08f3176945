import type { Stats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseEnvFile } from "../platform/env-file.ts";
import { registerSecret } from "../platform/redact.ts";
import type { Environment } from "../platform/secrets.ts";
import { COMMAND_FACTS } from "./command-facts.ts";
import type { CommandName } from "./finding.ts";
import type { DoctorWorld } from "./world.ts";

/** The environment file of a command; `problem` says why its variables are not known although it is there. */
export type EnvironmentFile = {
  command: CommandName;
  path: string;
  stats: Stats | null;
  variables: ReadonlyMap<string, string>;
  problem: string | null;
};

/** The variables that a command gets: those of its file, outweighed by those of this process. */
export type CommandEnvironment = { env: Environment; file: EnvironmentFile };

/**
 * Reads the environment that a command has when it is started as it is installed.
 *
 * Shape: doctor run by hand has none of these variables. A variable of this process that is blank hides none of the
 *        file's. Secrets of the file are known to the redaction from here on.
 */
export async function readEnvironment(command: CommandName, world: DoctorWorld): Promise<CommandEnvironment> {
  const file = await readEnvironmentFile(command, join(world.envDir, `${command}.env`));
  const own = Object.entries(world.env).filter(([, value]) => value !== undefined && value.trim() !== "");
  const env = { ...Object.fromEntries(file.variables), ...Object.fromEntries(own) };
  for (const { name } of COMMAND_FACTS[command].secrets) {
    for (const value of [file.variables.get(name), world.env[name]]) {
      if (value !== undefined && value.trim() !== "") registerSecret(value);
    }
  }
  // Where the files are is the same question for the socket monitor and for doctor.
  if (command !== "socket-monitor" || (env.OPSCTL_WEBHOOK_ENV_FILE ?? "").trim() !== "") return { env, file };
  return { env: { ...env, OPSCTL_WEBHOOK_ENV_FILE: join(world.envDir, "webhook.env") }, file };
}

async function readEnvironmentFile(command: CommandName, path: string): Promise<EnvironmentFile> {
  const none = { command, path, stats: null, variables: new Map<string, string>() };
  try {
    const stats = await stat(path);
    if (!stats.isFile()) return { ...none, stats, problem: "it is not a regular file" };
    return { command, path, stats, variables: parseEnvFile(await readFile(path, "utf8")), problem: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ...none, problem: code === "ENOENT" ? null : `the file system answered ${code ?? "an error"}` };
  }
}
