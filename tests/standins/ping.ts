/** A stand-in of a service that waits for pings, such as healthchecks.io: any path is a check, `/fail` its failure. */
import { type StandIn, type StandInOptions, startStandIn } from "./standin.ts";

/** A running one; `pings` are the words that came, in their order. */
export type PingStandIn = StandIn<"ping"> & { pings: ("well" | "fail")[] };

/** Starts one. */
export async function startPing(options: StandInOptions = {}): Promise<PingStandIn> {
  const pings: PingStandIn["pings"] = [];
  const standIn = await startStandIn(
    {
      ping: {
        method: "GET",
        pattern: /^\/.+$/,
        async handle({ path }, _match, work) {
          await work();
          pings.push(/\/fail(?:\?|$)/.test(path) ? "fail" : "well");
          return { status: 200, text: "OK", headers: { "content-type": "text/plain" } };
        },
      },
    },
    { ...options, notFound: () => ({ status: 404, text: "not found" }) },
  );
  return Object.assign(standIn, { pings });
}
