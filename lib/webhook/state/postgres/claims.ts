import { randomUUID } from "node:crypto";
import { ISSUE_TTL_MS, type State } from "../contract.ts";
import { issueKey } from "../stored.ts";
import type { StateLink } from "./connection.ts";
import { restoredOrNull, storedKey, storedOrNull } from "./stored-text.ts";

/** The claims on issues, apart from rows. */
export function issueClaims(link: StateLink): Pick<State, "issueClaim" | "rememberIssues"> {
  return {
    issueClaim: (fingerprint) =>
      link.ask("read the dedup", async (sql) => {
        const [row] = await sql`
          select claimed_at, value from opsctl_state.dedup
          where key = ${storedKey(issueKey(fingerprint))}::text and expires_at > opsctl_state.now_ms()`;
        if (row === undefined) return null;
        return { claimedAtMs: Number(row.claimed_at), url: restoredOrNull(row.value) };
      }),
    rememberIssues: (issues) =>
      link.ask("remember issues", async (sql) => {
        const claims = issues.map(({ fingerprint, claimedAtMs, url }) => ({
          key: storedKey(issueKey(fingerprint)),
          token: randomUUID(),
          claimed_at: claimedAtMs,
          value: storedOrNull(url),
        }));
        await sql`
          insert into opsctl_state.dedup as d (key, token, claimed_at, ttl_ms, expires_at, value)
          select c.key, c.token, c.claimed_at, ${ISSUE_TTL_MS}::bigint,
            least(c.claimed_at, opsctl_state.now_ms()) + ${ISSUE_TTL_MS}::bigint, c.value
          from json_to_recordset(${JSON.stringify(claims)}::text::json)
            as c (key text, token uuid, claimed_at bigint, value text)
          on conflict (key) do update set token = excluded.token, claimed_at = excluded.claimed_at,
            ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at, value = excluded.value
          where d.expires_at <= opsctl_state.now_ms()`;
      }),
  };
}
