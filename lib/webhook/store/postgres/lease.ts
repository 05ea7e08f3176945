import type { StateLink } from "./link.ts";
import { inPostgres } from "./schema.ts";

const LEASE_MS = 15_000;

/**
 * The condition that this process, the holder in `$5`, delivers.
 *
 * Behaviour: another process has to take the row before it delivers, so a holder that is late is still the only one.
 */
export const HAS_LEASE = "exists (select 1 from {meta} where key = 'lease' and value like $5 || ' %')";

// A lease that ends later than any lease can was taken before the clock was set back.
const TAKE = inPostgres(`
  insert into {meta} as lease (key, value) values ('lease', $1 || ' ' || ({now} + ${LEASE_MS}))
  on conflict (key) do update set value = excluded.value
  where lease.value like $1 || ' %'
    or cast(split_part(lease.value, ' ', 2) as bigint) not between {now} + 1 and {now} + ${LEASE_MS}
  returning key`);
const GIVE_UP = inPostgres("delete from {meta} where key = 'lease' and value like $1 || ' %'");

/**
 * Who delivers: the row `lease`, `<holder> <until ms>`, for 15 seconds from the last `lead`.
 *
 * Shape: `link` has a connection that nothing else uses, so that no other call delays the renewal.
 */
export class Lease {
  readonly #link: StateLink;
  readonly #holder: string;
  #isHeld = false;

  constructor(link: StateLink, holder: string) {
    this.#link = link;
    this.#holder = holder;
  }

  /** As `Store.lead`. */
  async lead(): Promise<boolean> {
    const rows = await this.#link.ask("ask who delivers", ({ sql, prepares }) =>
      sql.unsafe(TAKE, [sql.typed(this.#holder, 25)], { prepare: prepares }),
    );
    this.#isHeld = rows.length > 0;
    return this.#isHeld;
  }

  /** Gives the lease up, when it is ours and the database can be reached, and closes the connection. */
  async close(): Promise<void> {
    if (this.#isHeld)
      await this.#link.ask("give up the lease", ({ sql }) => sql.unsafe(GIVE_UP, [this.#holder])).catch(() => {});
    await this.#link.close();
  }
}
