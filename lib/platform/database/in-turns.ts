import type postgres from "postgres";
import { type Statement, watchStatements } from "./statements.ts";

/**
 * The driver's pool behind a pooler, with no more statements and transactions under way than it has connections.
 *
 * Behaviour: with more of them the driver sends a statement before the one before it on the same connection is
 *            answered. A pooler in transaction mode may give the server's session away after the first answer, and the
 *            next one never comes, or comes to somebody else. A statement that was given up while it waited is not sent.
 * Source:    github.com/supabase/supavisor issues 1061 and 1172, github.com/supabase/supabase issue 50358 and
 *            github.com/porsager/postgres issue 970, read 2026-11-23. The driver's `max_pipeline` leaves one such
 *            statement at 1, and breaks its transactions at 0 (3.4.9).
 */
export function inTurns(pool: postgres.Sql, connections: number): postgres.Sql {
  let free = connections;
  const waiting: (() => void)[] = [];
  const enter = async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const takeTurn = (statement: Statement) => {
    const { handler } = statement;
    statement.handler = async () => {
      await enter();
      if (statement.cancelled) return leave();
      statement.then(leave, leave);
      handler(statement);
    };
  };
  const begin = async (...args: [never, never]) => {
    await enter();
    try {
      return await pool.begin(...args);
    } finally {
      leave();
    }
  };
  return watchStatements(pool, takeTurn, { begin });
}
