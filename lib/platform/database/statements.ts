import type postgres from "postgres";

/**
 * A statement of the driver, with what its own code uses of it.
 *
 * Shape: `handler` gets the statement when somebody waits for it; `state` is null until it is written to a connection;
 *        `cancel` takes one that was not written out of the driver's queue, or marks it as `cancelled`.
 */
export type Statement = Promise<unknown> & {
  handler(statement: unknown): void;
  readonly state: object | null;
  readonly cancelled: unknown;
  reject(error: unknown): void;
  cancel(): void;
};

/**
 * `sql` whose statements are given to `onStatement` as soon as they are made; `ours` stands in for its functions.
 *
 * Behaviour: what `sql` makes and is no statement is a name, a value or a list for one; what is never awaited is a part
 *            of one, and its `handler` is never called.
 */
export function watchStatements<S extends postgres.ISql>(
  sql: S,
  onStatement: (statement: Statement) => void,
  ours: Record<PropertyKey, unknown> = {},
): S {
  const made = <T>(value: T): T => {
    if (value instanceof Promise) onStatement(value as unknown as Statement);
    return value;
  };
  const unsafe: S["unsafe"] = (...args) => made(sql.unsafe(...args));
  const replaced: Record<PropertyKey, unknown> = { ...ours, unsafe };
  return new Proxy(sql, {
    apply: (_target, _this, args) => made(Reflect.apply(sql as unknown as () => unknown, undefined, args)),
    get: (_target, key) => replaced[key] ?? Reflect.get(sql, key),
  });
}
