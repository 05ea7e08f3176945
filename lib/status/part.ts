import type { PartName } from "../host/set-up.ts";

/**
 * What is to be said of a part.
 *
 * Shape: `attention` is a part that needs a person, `unknown` one that this account cannot see into; `next` is the
 *        command that comes next, null where none is needed; `facts` are the values behind the lines, null where none
 *        are known.
 */
export type PartReport = {
  status: "ok" | "attention" | "unknown" | "not_set_up";
  lines: string[];
  next: string | null;
  facts: object | null;
};

/** A report with the name of its part. */
export type NamedReport = { part: PartName } & PartReport;

/** All is well. */
export function ok(lines: string[], facts: object): PartReport {
  return { status: "ok", lines, next: null, facts };
}

/** A person is needed, who begins with `next`. */
export function attention(lines: string[], next: string, facts: object | null = null): PartReport {
  return { status: "attention", lines, next, facts };
}

/** This host does not use the part, which is no fault. */
export const NOT_SET_UP: PartReport = {
  status: "not_set_up",
  lines: ["not set up"],
  next: null,
  facts: null,
};

/** The report of a part whose reading did not end. */
export function late(next: string): PartReport {
  return attention(["did not answer in time"], next);
}
