/**
 * The ways in which a gateway cannot be reached. Each gets its own reason, and none of them says to pair a phone. A
 * gateway that hangs is tested in `hanging.test.ts`.
 */
import type { CommandName } from "../../../lib/doctor/finding.ts";
import type { Fault } from "./fault.ts";
import type { Host } from "./host.ts";

const SILENT: ReadonlySet<string> = new Set(["gateway_unreachable", "gateway_connection_lost"]);

/** The faults of the gateway at `variable` that the check must name. */
export function gatewayDown(
  command: CommandName,
  variable: string,
  check: string,
  /** The code of a fault that something answers with, else its cause. */
  code: string,
  /** The code of a fault that nothing answers with, else its cause. */
  silentCode = code,
): Record<string, Fault> {
  const row = (cause: string, problem: string, spoil: (host: Host) => unknown): Fault => ({
    ...{ command, check, status: "fail", spoil },
    reason: `${(SILENT.has(cause) ? silentCode : code) || cause}: ${problem}`,
    mend: /^(?!.*(pair|phone|QR)).*(URL|proxy)/i,
  });
  const elsewhere = (url: string) => (host: Host) => host.setting(command, variable, url);
  const scripted = (answer: Parameters<Host["gateway"]["routes"]["state"]["next"]>[0]) => (host: Host) => {
    for (const route of Object.values(host.gateway.routes)) route.script = () => answer;
  };
  return {
    "nothing listens at the gateway's address": row(
      "gateway_unreachable",
      "no connection to the gateway",
      elsewhere("http://127.0.0.1:1"),
    ),
    "the gateway's name is not known": row(
      "gateway_unreachable",
      "no connection to the gateway",
      elsewhere("https://gateway.invalid"),
    ),
    "the gateway's address speaks no TLS": row(
      "gateway_connection_lost",
      "the connection to the gateway broke off",
      (host) => host.setting(command, variable, host.gateway.url.replace("http:", "https:")),
    ),
    "a proxy answers for the gateway": row(
      "gateway_http_502",
      "the gateway, or a proxy before it, answers HTTP 502",
      scripted({ status: 502, text: "<html>" }),
    ),
    "a page answers for the gateway": row(
      "gateway_answer_unreadable",
      "what answers is not the gateway",
      scripted("not_json"),
    ),
  };
}
