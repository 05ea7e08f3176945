import { until } from "../../support/until.ts";
import { claim, claimHeard } from "../checks.ts";
import { bytesFree } from "../disk.ts";
import { type AlertFacts, alertOf, type Host } from "../host.ts";
import { blank, quote, say, step } from "../screen.ts";

const DISK: AlertFacts = {
  name: "Disco Raiz Baixo",
  instance: "main",
  severity: "critical",
  summary: "Menos de 15% livres no disco raiz",
};

const RESERVE_BYTES = 32 * 2 ** 20;

/** The alert about the full disk needs the full disk, and arrives. */
export async function fullDisk(host: Host): Promise<void> {
  const { alarm, disk } = host;
  step("The host's disk is full to the last byte");
  await (disk.isReal ? fillReally(host) : forbid(host));
  const posted = await alarm.post([alertOf(DISK)]);
  claim("an alert is accepted on a full disk", posted.status === 200);
  claim("it is kept where there is a reserve", (posted.durable !== false) === disk.isReal);
  const message = await alarm.message(1);
  claim("the alert about the disk is on the phone", message.startsWith("🔴 *Disco Raiz Baixo* · main"));
  await until("its issue", () => alarm.tracker.issues.length === 1);
  quote(message);

  disk.empty(alarm.pid);
  await until("room for alerts", async () => (await fetch(`${alarm.adminUrl}/readyz`)).ok);
  await alarm.post([alertOf(DISK, { isOver: true })]);
  const resolved = await alarm.message(2);
  claim("its end is told", resolved.startsWith("✅ *Disco Raiz Baixo* · main"));
  claimHeard(host, { messages: 2, issues: 1 });
  blank();
  say("Somebody makes room, and the phone says so:");
  blank();
  quote(resolved);
}

async function fillReally({ alarm, disk }: Host): Promise<void> {
  await until("the reserve", async () => (await alarm.metric("reserve_bytes")) === RESERVE_BYTES);
  disk.fill(alarm.pid);
  claim("not a byte is left", bytesFree(disk) === 0);
  say(
    "The service keeps its state on this disk, 160 MiB that were mounted for it, and something else has eaten the rest: 0 bytes are free. In its own file it keeps 32 MiB that nobody else can take. They pay for the alert, which is written down before it is sent:",
  );
  blank();
}

async function forbid({ alarm, disk }: Host): Promise<void> {
  disk.fill(alarm.pid);
  say(
    "This user may not mount a disk to fill up. Instead the service is not allowed to write a byte to any file (prlimit), the worst of full disks: its reserve is of no use either. The alert is sent from memory, and only then answered with 200:",
  );
  blank();
}
