import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { runProgram } from "../platform/run-program.ts";

/** The TCP sockets of this network namespace, IPv4 and IPv6; `total` is what `ss -Hant` would list. */
export type SocketCounts = { total: number; closeWait: number };

const DEFAULT_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
/** With one state alone `ss` drops the State column. */
const LISTING = ["-Hant", "state", "close-wait", "state", "syn-recv"];
const ROW = /^(CLOSE-WAIT|SYN-RECV) +\d+ +\d+ +\S/;
/** Of half a million rows. */
const MAX_BYTES = 67_108_864;

/**
 * Counts the TCP sockets of the host without listing them all; `procNet` is the folder of the kernel's counters.
 *
 * Behaviour: `ss` lists CLOSE-WAIT and half-open connections. The kernel's counters give the rest: `inuse` counts
 *            everything, listeners included, but TIME-WAIT, which is `tw`, and half-open connections.
 * Errors:    throws when `ss` is missing, fails, or prints no listing, and when the counters cannot be read.
 * Source:    Linux net/ipv4/proc.c, net/ipv4/inet_hashtables.c; iproute2 misc/ss.c.
 */
export async function countSockets({
  signal,
  env = process.env,
  procNet = "/proc/net",
}: {
  signal: AbortSignal;
  env?: Readonly<Record<string, string | undefined>> | undefined;
  procNet?: string | undefined;
}): Promise<SocketCounts> {
  const [states, counted] = await Promise.all([
    listedStates(signal, env.PATH || DEFAULT_PATH),
    readCounters(procNet),
  ]);
  const closeWait = states.filter((state) => state === "CLOSE-WAIT").length;
  // The two are not read at one moment: the part must not be larger than the whole.
  return { total: Math.max(counted + states.length - closeWait, states.length), closeWait };
}

/** The state of each row. */
async function listedStates(signal: AbortSignal, path: string): Promise<string[]> {
  const env = { PATH: path, LC_ALL: "C" };
  const { end, stdout } = await runProgram("ss", LISTING, { env, signal, maxBytes: MAX_BYTES });
  if (end.status === "late") throw noListing("ss did not end in time");
  if (end.status === "flooded") throw noListing("its listing has no end");
  if (end.status === "unstarted")
    throw noListing(end.code === "ENOENT" ? "ss is not installed" : `ss cannot be started: ${end.code}`);
  if (end.exitCode !== 0) throw noListing(`ss ended with status ${end.exitCode ?? end.signal}`);
  const lines = stdout.toString("latin1").split("\n");
  if (lines.pop() !== "") throw noListing("the last row of the listing is cut off");
  return lines.map((line) => {
    const state = ROW.exec(line)?.[1];
    if (state === undefined) throw noListing("a row of the listing has no state");
    return state;
  });
}

function noListing(reason: string): Error {
  return new Error(`Cannot list the sockets: ${reason}`);
}

/** The sockets that the kernel's counters know; there is no `sockstat6` where IPv6 is off. */
async function readCounters(folder: string): Promise<number> {
  const read = (name: string) => readFile(join(folder, name), "utf8").catch(() => null);
  const [four, six] = await Promise.all([read("sockstat"), read("sockstat6")]);
  const [, inUse, timeWait] = /^TCP: inuse (\d+) orphan \d+ tw (\d+) /m.exec(four ?? "") ?? [];
  const inUse6 = six === null ? "0" : /^TCP6: inuse (\d+)$/m.exec(six)?.[1];
  if (inUse === undefined || inUse6 === undefined)
    throw new Error(`Cannot read the socket counters: ${folder}/sockstat is not as expected`);
  return Number(inUse) + Number(timeWait) + Number(inUse6);
}
