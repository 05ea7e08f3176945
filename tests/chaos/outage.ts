/** An application that goes away at some call of a run, in one of the ways in which a real one does, and comes back. */
import type { Scripted } from "../standins/standin.ts";
import type { Arena } from "./arena.ts";

/** How it is away; `refused`: nothing listens at its port. */
export const OUTAGES = ["503", "page", "dropped", "refused", "silent", "mixed"] as const;

/** One of these ways. */
export type OutageKind = (typeof OUTAGES)[number];

/** An outage that is ordered; `end` lets the application answer again, and calls off one that has not begun. */
export type Outage = { hasBegun(): boolean; end(): void };

const ANSWERS: Record<Exclude<OutageKind, "refused" | "mixed">, Scripted> = {
  "503": { status: 503, json: { error: "away" } },
  page: "not_json",
  dropped: "drop_unread",
  silent: "hang",
};

/**
 * Takes the application away at the `fromCall`-th analysis from now on.
 *
 * Units: `lastsMs` is real time; null is until `end`.
 */
export function orderOutage(
  { application, door }: Arena,
  { kind, fromCall, lastsMs }: { kind: OutageKind; fromCall: number; lastsMs: number | null },
): Outage {
  const { analysis } = application.routes;
  const first = analysis.calls.length + fromCall;
  let status: "ordered" | "away" | "over" = "ordered";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    status = "over";
    analysis.script = null;
    door?.open();
  };
  const begin = () => {
    status = "away";
    if (kind === "refused") door!.vanish();
    if (lastsMs !== null) timer = setTimeout(end, lastsMs);
  };
  analysis.script = () => {
    if (status === "ordered" && analysis.calls.length >= first) begin();
    return status === "away" ? answerOf(kind, analysis.calls.length) : undefined;
  };
  return { hasBegun: () => status !== "ordered", end };
}

function answerOf(kind: OutageKind, call: number): Scripted {
  if (kind === "refused") return "drop_unread";
  if (kind !== "mixed") return ANSWERS[kind];
  return Object.values(ANSWERS)[call % 3]!;
}
