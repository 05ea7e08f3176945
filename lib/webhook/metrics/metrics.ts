import type { OutboxKind, OutboxStats } from "../state/state.ts";

/** Why a channel takes nothing at the moment: the code of the refusal, or null. */
export type Holds = Record<OutboxKind, string | null>;

/**
 * What the service counts about itself.
 *
 * Units: durations in milliseconds; `sent` takes the time from acceptance to delivery.
 */
export type WebhookMetrics = {
  request(status: number, durationMs: number): void;
  accepted(count: number): void;
  rejected(count: number): void;
  duplicate(): void;
  sent(kind: OutboxKind, latencyMs: number): void;
  failed(kind: OutboxKind, code: string): void;
  dead(kind: OutboxKind): void;
  /** Prometheus text: every series is there from the start. */
  render(now: { stats: OutboxStats; holds: Holds; isLeading: boolean; movedAside: boolean }): string;
};
