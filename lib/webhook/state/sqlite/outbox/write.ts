import type { Alert } from "../../../alert/alert.ts";
import type { AcceptOutcome, Tries } from "../../contract.ts";
import { isRefusedRow } from "../file/open-sqlite.ts";
import { type AcceptDependencies, acceptor } from "./accept/accept.ts";
import type { Transaction } from "./transaction.ts";

/** What happens to rows of the outbox in the transaction that also accepts; returns what its caller is told. */
export type Change = () => unknown;

/** Makes changes and accepts requests, all in one commit; `results` are those of the changes. */
export type Write = (
  changes: readonly Change[],
  requests: readonly (readonly Alert[])[],
  tries?: Tries,
) => { results: unknown[]; outcomes: AcceptOutcome[] };

/**
 * Makes the function through which alerts get into the outbox and out of it.
 *
 * Behaviour: writes everything it is given in one transaction. When SQLite refuses a row in it, each request gets a
 *            transaction of its own, so that only the request with that row is refused; after any other failure the
 *            remaining requests are refused untried.
 * Errors:    those of SQLite when the whole transaction failed; then nothing was accepted and nothing changed.
 */
export function writer(dependencies: AcceptDependencies & { transaction: Transaction }): Write {
  const { load, nowMs } = dependencies;
  const accept = acceptor(dependencies);
  const write: Write = (changes, requests, tries) => {
    const now = nowMs();
    return dependencies.transaction(() => {
      load.refresh(now);
      return {
        results: changes.map((change) => change()),
        outcomes: requests.map((alerts) => accept(alerts, now, tries)),
      };
    });
  };
  return (changes, requests, tries) => {
    try {
      return write(changes, requests, tries);
    } catch (error) {
      if (!isRefusedRow(error)) throw error;
      const { results } = write(changes, []);
      return { results, outcomes: writeEach((request) => write([], [request], tries), requests) };
    }
  };
}

/** Each request by itself; those committed before a failure stay accepted. */
function writeEach(
  write: (request: readonly Alert[]) => ReturnType<Write>,
  requests: readonly (readonly Alert[])[],
): AcceptOutcome[] {
  let isFailing = false;
  return requests.map((request) => {
    if (isFailing) return REFUSED;
    try {
      return write(request).outcomes[0]!;
    } catch (error) {
      isFailing = !isRefusedRow(error);
      return REFUSED;
    }
  });
}

const REFUSED: AcceptOutcome = { refused: "state_unavailable" };
