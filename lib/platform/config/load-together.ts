import { OpsError, type SettingProblem } from "../errors.ts";
import type { Environment } from "../secrets/adapter.ts";
import { settingsHint } from "./config.ts";

const INVALID = "CONFIG_INVALID";

/**
 * The settings that `main` loads, once `others` are loaded too: what is missing or invalid of all is one error.
 *
 * Behaviour: each line of the problems is there once, those of `main` first, with one advice for all; where an error
 *            does not list its settings, with the advice of each. An error of another kind is thrown only where no
 *            setting is missing or invalid.
 * Errors:    CONFIG_INVALID; those of the loaders.
 */
export async function loadTogether<T>(
  main: Promise<T>,
  others: readonly Promise<unknown>[],
  env: Environment,
): Promise<T> {
  const loaded = await Promise.allSettled([main, ...others]);
  const errors = loaded.flatMap((one): unknown[] => (one.status === "rejected" ? [one.reason] : []));
  const [first, ...more] = errors.filter(isInvalid);
  if (first !== undefined) throw more.length === 0 ? first : joined([first, ...more], env);
  if (errors.length > 0) throw errors[0];
  return await main;
}

function isInvalid(error: unknown): error is OpsError {
  return error instanceof OpsError && error.code === INVALID;
}

function joined(errors: readonly OpsError[], env: Environment): OpsError {
  const lines = new Set(errors.flatMap(({ message }) => message.split("\n").slice(1)));
  const message = [`Cannot start: ${lines.size} settings are missing or invalid`, ...lines].join("\n");
  const settings = settingsOf(errors);
  const hint = settings === undefined ? hintsOf(errors) : settingsHint(settings, env);
  return new OpsError({ code: INVALID, message, hint, settings });
}

function hintsOf(errors: readonly OpsError[]): string | undefined {
  const hints = new Set(errors.flatMap(({ hint }) => hint ?? []));
  return hints.size === 0 ? undefined : [...hints].join("\n");
}

/** The problems of all; undefined where one of the errors does not list its own, so that none is lost. */
function settingsOf(errors: readonly OpsError[]): SettingProblem[] | undefined {
  if (errors.some(({ settings }) => settings === undefined)) return undefined;
  const all = errors.flatMap(({ settings }) => settings ?? []);
  return [...new Map(all.map((one) => [`${one.name} ${one.problem}`, one])).values()];
}
