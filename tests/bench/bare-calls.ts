/** The calls of a report without anything in them. */
export type BareCalls = { post(): Promise<void>; read(): Promise<void> };

/** An empty POST on a connection of its own, and the gateway's state, which is read over a kept one. */
export function bareCalls(peerUrl: string): BareCalls {
  return {
    async post() {
      const init = { method: "POST", body: "{}", keepalive: false };
      await (await fetch(`${peerUrl}/api/v1/social/analytics/weekly`, init)).arrayBuffer();
    },
    async read() {
      await (await fetch(`${peerUrl}/instance/connectionState/ops`)).arrayBuffer();
    },
  };
}
