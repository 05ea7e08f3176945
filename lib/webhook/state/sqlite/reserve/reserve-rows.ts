import type { DatabaseSync } from "node:sqlite";

/** Rows that take space in the file until it is needed. */
export type ReserveRows = { count(): number; add(bytes: number): void; remove(count: number): void };

/** Errors: those of SQLite. */
export function reserveRows(db: DatabaseSync): ReserveRows {
  const count = db.prepare("select count(*) as n from reserve");
  const add = db.prepare("insert into reserve (filling) values (zeroblob(?))");
  const remove = db.prepare(
    "delete from reserve where id in (select id from reserve order by id desc limit ?)",
  );
  return {
    count: () => Number(count.get()?.n),
    add: (bytes) => void add.run(bytes),
    remove: (most) => void remove.run(most),
  };
}
