import { join } from "node:path";
import * as v from "valibot";
import { writeFileAtomic } from "../platform/files/atomic-file.ts";

/** Name of the file in the log directory with the result of the last `plan` or `apply`. */
export const LAST_PLAN_FILE = "alert-rules.last.json";

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const lastPlanSchema = v.object({
  command: v.picklist(["plan", "apply"]),
  at: v.pipe(v.string(), v.isoTimestamp()),
  withExtras: v.boolean(),
  rules: count,
  differ: count,
});

/**
 * The result of the last `plan` or `apply`: of `rules` rules `differ` are not in Grafana as they are in the code,
 * after `apply` those that it could not write.
 */
export type LastPlan = v.InferOutput<typeof lastPlanSchema>;

/** The content of the file; null when it is something else. */
export function parseLastPlan(text: string): LastPlan | null {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), lastPlanSchema), text);
  return parsed.success ? parsed.output : null;
}

/** Replaces the file in the directory, which must exist; null when it is written, else the file system's code. */
export function writeLastPlan(logDir: string, plan: LastPlan): string | null {
  try {
    // Counts alone: other accounts may read it.
    writeFileAtomic(join(logDir, LAST_PLAN_FILE), `${JSON.stringify(plan)}\n`, { mode: 0o644 });
    return null;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return code ?? name;
  }
}
