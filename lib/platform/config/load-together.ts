import { OpsError, type SettingProblem } from "../errors.ts";

const INVALID = "CONFIG_INVALID";

/**
 * The settings that `main` loads, once `others` are loaded too: what is missing or invalid of all is one error.
 *
 * Behaviour: each line of the problems is there once, those of `main` first, and so is each advice. An error of another
 *            kind is thrown only where no setting is missing or invalid.
 * Errors:    CONFIG_INVALID; those of the loaders.
 */
export async function loadTogether<T>(main: Promise<T>, others: readonly Promise<unknown>[]): Promise<T> {
  const loaded = await Promise.allSettled([main, ...others]);
  const errors = loaded.flatMap((one): unknown[] => (one.status === "rejected" ? [one.reason] : []));
  const [first, ...more] = errors.filter(isInvalid);
  if (first !== undefined) throw more.length === 0 ? first : joined(first, more);
  if (errors.length > 0) throw errors[0];
  return await main;
}

function isInvalid(error: unknown): error is OpsError {
  return error instanceof OpsError && error.code === INVALID;
}

function joined(first: OpsError, more: readonly OpsError[]): OpsError {
  const lines = new Set([first, ...more].flatMap(({ message }) => message.split("\n").slice(1)));
  const message = [`Cannot start: ${lines.size} settings are missing or invalid`, ...lines].join("\n");
  const hints = new Set([first, ...more].flatMap(({ hint }) => hint ?? []));
  const hint = hints.size === 0 ? undefined : [...hints].join("\n");
  return new OpsError({ code: INVALID, message, hint, settings: settingsOf([first, ...more]) });
}

/** The problems of all; undefined where one of the errors does not list its own, so that none is lost. */
function settingsOf(errors: readonly OpsError[]): SettingProblem[] | undefined {
  if (errors.some(({ settings }) => settings === undefined)) return undefined;
  const all = errors.flatMap(({ settings }) => settings ?? []);
  return [...new Map(all.map((one) => [`${one.name} ${one.problem}`, one])).values()];
}
