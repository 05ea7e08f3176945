import type { DatabaseSync } from "node:sqlite";

/** Rows that take space in the file until it is needed. */
export type ReserveRows = {
  count(): number;
  add(count: number, bytes: number): void;
  remove(count: number): void;
};

/** Errors: those of SQLite. */
export function reserveRows(db: DatabaseSync): ReserveRows {
  const count = db.prepare("select count(*) as n from reserve");
  const add = db.prepare(`
    insert into reserve (filling)
    with recursive row (number) as (select 1 union all select number + 1 from row where number < ?1)
    select zeroblob(?2) from row`);
  const remove = db.prepare(
    "delete from reserve where id in (select id from reserve order by id desc limit ?)",
  );
  return {
    count: () => Number(count.get()?.n),
    add: (rows, bytes) => void add.run(rows, bytes),
    remove: (most) => void remove.run(most),
  };
}
