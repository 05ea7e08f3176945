import { isRefusedRow } from "../../../../platform/files/sqlite.ts";
import type { Alert } from "../../../alert/alert.ts";
import type { AcceptOutcome } from "../../contract.ts";
import { type AcceptDependencies, acceptor } from "./accept.ts";
import { type SettleDependencies, type Settled, settler } from "./settle.ts";
import type { Transaction } from "./transaction.ts";

/** Settles rows and accepts requests, all in one commit. */
export type Write = (settled: readonly Settled[], requests: readonly (readonly Alert[])[]) => AcceptOutcome[];

/**
 * Makes the function through which alerts get into the outbox and out of it.
 *
 * Behaviour: writes everything it is given in one transaction. When SQLite refuses a row in it, each request gets a
 *            transaction of its own, so that only the request with that row is refused; after any other failure the
 *            remaining requests are refused untried.
 * Errors:    those of SQLite when the whole transaction failed; then nothing was accepted and nothing settled.
 */
export function writer(
  dependencies: AcceptDependencies & SettleDependencies & { transaction: Transaction },
): Write {
  const { load, nowMs } = dependencies;
  const settle = settler(dependencies);
  const accept = acceptor(dependencies);
  const write: Write = (settled, requests) => {
    const now = nowMs();
    load.refresh(now);
    try {
      return dependencies.transaction(() => {
        for (const one of settled) settle(one);
        return requests.map((alerts) => accept(alerts, now));
      });
    } catch (error) {
      load.forget();
      throw error;
    }
  };
  return (settled, requests) => {
    try {
      return write(settled, requests);
    } catch (error) {
      if (!isRefusedRow(error)) throw error;
      write(settled, []);
      return writeEach(write, requests);
    }
  };
}

/** Each request by itself; those committed before a failure stay accepted. */
function writeEach(write: Write, requests: readonly (readonly Alert[])[]): AcceptOutcome[] {
  let isFailing = false;
  return requests.map((request) => {
    if (isFailing) return REFUSED;
    try {
      return write([], [request])[0]!;
    } catch (error) {
      isFailing = !isRefusedRow(error);
      return REFUSED;
    }
  });
}

const REFUSED: AcceptOutcome = { refused: "state_unavailable" };
