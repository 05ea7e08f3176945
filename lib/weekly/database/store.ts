import type postgres from "postgres";
import { readWeekState } from "../../ledger/week-state.ts";
import { readLastWeek, readNow, readWritable } from "./clock.ts";
import {
  claimEmail,
  claimWhatsapp,
  countSentWhatsapp,
  dispatchDelivery,
  readDelivery,
  repairDelivery,
  settleAndClaimEmail,
  settleDelivery,
} from "./deliveries.ts";
import { withDrainLock } from "./drain-lock.ts";
import { readEvidence } from "./evidence.ts";
import { persistAndClaimWhatsapp } from "./persist-and-claim.ts";
import {
  countScopes,
  listNewScopes,
  listRecipients,
  listScopes,
  ownerExists,
  readSenders,
} from "./recipients.ts";
import { claimReport, failReport, listAnalysedConnections, persistReport } from "./reports.ts";

/** Every SQL call of the weekly run. */
export type Store = ReturnType<typeof weeklyStore>;

/**
 * The database as the weekly run uses it, one function per step; only the drain's lock holds a transaction open.
 *
 * Shape:  instants are UTC text in both directions, so that neither the session's zone nor a date type of milliseconds
 *         changes them.
 * Errors: the driver's own; `classifyDatabaseError` tells a lost connection from a refusal. SQLSTATE `OW...` are
 *         the refusals of opsctl's functions.
 */
export function weeklyStore(sql: postgres.Sql) {
  const onPool =
    <A extends unknown[], R>(call: (pool: postgres.Sql, ...args: A) => R) =>
    (...args: A): R =>
      call(sql, ...args);
  return {
    now: onPool(readNow),
    lastWeek: onPool(readLastWeek),
    isWritable: onPool(readWritable),
    countSentWhatsapp: onPool(countSentWhatsapp),
    countScopes: onPool(countScopes),
    listScopes: onPool(listScopes),
    ownerExists: onPool(ownerExists),
    listNewScopes: onPool(listNewScopes),
    claimReport: onPool(claimReport),
    listAnalysedConnections: onPool(listAnalysedConnections),
    readEvidence: onPool(readEvidence),
    persistReport: onPool(persistReport),
    persistAndClaimWhatsapp: onPool(persistAndClaimWhatsapp),
    failReport: onPool(failReport),
    claimWhatsapp: onPool(claimWhatsapp),
    claimEmail: onPool(claimEmail),
    dispatchDelivery: onPool(dispatchDelivery),
    settleDelivery: onPool(settleDelivery),
    settleAndClaimEmail: onPool(settleAndClaimEmail),
    readDelivery: onPool(readDelivery),
    repairDelivery: onPool(repairDelivery),
    weekState: onPool(readWeekState),
    readSenders: onPool(readSenders),
    listRecipients: onPool(listRecipients),
    withDrainLock: <T>(drain: (confirm: () => Promise<void>) => Promise<T>) => withDrainLock(sql, drain),
  };
}
