import type postgres from "postgres";
import type { Claim } from "../../../lib/dedup/sqlite.ts";
import { restoredText, storedKey, storedText } from "../../../lib/webhook/state/postgres/stored-text.ts";
import type { AnyDedup } from "./suite.ts";

/**
 * The dedup functions of the schema `opsctl_state`, through which the outbox claims, confirms and releases; on a pool
 * or inside the caller's transaction.
 *
 * Shape: as `sqliteDedup`; the clock is the database's, `opsctl_state.now_ms()`.
 */
export function postgresDedup(sql: postgres.ISql): AnyDedup {
  return {
    async claim(key, ttlMs): Promise<Claim> {
      const [row] = await sql`
        select outcome, token, claimed_at, value
        from opsctl_state.claim(${storedKey(key)}::text, ${ttlMs}::bigint)`;
      if (!row) throw new Error("opsctl_state.claim returned no row");
      // The driver returns bigint as text.
      const claimedAtMs = Number(row.claimed_at);
      if (row.outcome === "first") return { status: "first", token: row.token, claimedAtMs };
      return {
        status: "duplicate",
        claimedAtMs,
        value: row.value === null ? null : restoredText(row.value),
      };
    },

    async confirm(key, token, { ttlMs, value } = {}) {
      const stored = value === undefined ? null : storedText(value);
      const [row] = await sql`
        select opsctl_state.confirm(
          ${storedKey(key)}::text, ${storedText(token)}::text, ${ttlMs ?? null}::bigint, ${stored}::text) as done`;
      return row!.done;
    },

    async release(key, token) {
      const [row] = await sql`
        select opsctl_state.release(${storedKey(key)}::text, ${storedText(token)}::text) as done`;
      return row!.done;
    },

    async prune() {
      const [row] = await sql`select opsctl_state.prune_dedup() as count`;
      return Number(row!.count);
    },
  };
}
