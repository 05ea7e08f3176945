/** Properties of which each run asks a database: told as soon as one fails. */
import process from "node:process";
import fc from "fast-check";

const SHOWN = 3_000;

/**
 * `fc.assert` for a property whose runs are slow, or depend on what happens to come first.
 *
 * Behaviour: a failure is not shrunk: that takes a minute or more, and sessions that race lose the failure on the way.
 *            With `PROPERTY_SEED` and `PROPERTY_PATH`, which a failure names, the run is repeated and shrunk.
 * Errors:    the first failure, with seed, path, its message and the counterexample's first part.
 */
export async function assertInDatabase<Values>(
  property: fc.IAsyncProperty<Values>,
  { numRuns }: { numRuns: number },
): Promise<void> {
  const { PROPERTY_SEED: seed, PROPERTY_PATH: path } = process.env;
  const repeated =
    seed === undefined ? { endOnFailure: true } : { seed: Number(seed), ...(path ? { path } : {}) };
  const details = await fc.check(property, { numRuns, ...repeated });
  if (details.failed) throw new Error(failureText(details), { cause: details.errorInstance });
}

function failureText<Values>(details: fc.RunDetails<Values>): string {
  const { seed, counterexamplePath, numRuns, errorInstance, counterexample } = details;
  const shown = fc.stringify(counterexample).replaceAll("__proto__:null,", "");
  return [
    `The property failed in run ${numRuns}: ${messageOf(errorInstance)}`,
    `Again, and shrunk: PROPERTY_SEED=${seed} PROPERTY_PATH=${counterexamplePath}`,
    `With: ${shown.slice(0, SHOWN)}${shown.length > SHOWN ? " …" : ""}`,
  ].join("\n");
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  return [code, error.message, detail].filter((part) => part !== undefined && part !== "").join(", ");
}
