import { gatewayAdvice, WEEKLY_GATEWAY } from "../../providers/evolution/advice.ts";
import { prose, unbroken } from "../../text/terminal/prose.ts";
import { type Screen, stateTone } from "../../text/terminal/screen.ts";
import { type Column, renderTable } from "../../text/terminal/table.ts";
import { wrapText } from "../../text/wrap.ts";
import { localTime } from "../../time/local-time.ts";
import { countLookUps, type LookUp } from "./look-up.ts";

/** The width of what goes to a file or a pipe. */
const UNLIMITED_WIDTH = 100;

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "CHANNEL" },
  { title: "WEEK" },
  { title: "RESULT", wraps: true, tone: stateTone },
  { title: "CODE" },
  { title: "PROVIDER ID" },
  { title: "SENT (SÃO PAULO)", name: "sent (São Paulo)" },
  { title: "STATE", tone: stateTone },
];

/** What was found, for people: a line each, then what the words mean and what to do. */
export function renderLookUps(lookUps: readonly LookUp[], screen: Screen): string {
  if (lookUps.length === 0) return "No delivery is in doubt.\n";
  const rows = lookUps.map((one) => [
    one.id,
    one.channel,
    one.week,
    RESULTS[one.status],
    one.code ?? one.remark,
    one.providerMessageId,
    one.sentAt && localTime(one.sentAt),
    one.state,
  ]);
  const notes = [...new Set(lookUps.flatMap(notesOf))];
  const wrapped = notes.flatMap((note) => wrapText(`  ${note}`, screen.width ?? UNLIMITED_WIDTH, "    "));
  return [
    renderTable(COLUMNS, rows, screen),
    prose(["", totals(lookUps)], screen),
    ...wrapped.map((line) => `${line}\n`),
    nextOf(lookUps, screen),
  ].join("");
}

const RESULTS: Record<LookUp["status"], string> = {
  found: "found",
  not_found: "not found",
  not_unique: "not unique",
  could_not_be_asked: "could not be asked",
  not_in_doubt: "not in doubt",
};

function totals(lookUps: readonly LookUp[]): string {
  const { found, settled, notFound, notUnique, couldNotBeAsked, notInDoubt } = countLookUps(lookUps);
  const parts: [number, string][] = [
    [found, settled === 0 ? "found" : `found (${settled} settled as sent)`],
    [notFound, "not found"],
    [notUnique, "not unique"],
    [couldNotBeAsked, "could not be asked"],
    [notInDoubt, "not in doubt"],
  ];
  const shown = parts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
  return `${shown.join(", ")}.`;
}

const PROVES_NOTHING: Record<LookUp["channel"], string> = {
  whatsapp:
    "not found at the gateway proves nothing: it writes the row after the send, may be set not to keep it, or keeps it" +
    " under another name of the recipient. Look at the sending phone, or ask the recipient.",
  email:
    "not found at the e-mail provider proves nothing by itself: it lists an e-mail late, or not for ever. Its log of" +
    " calls (GET /logs) has the answer that opsctl did not get.",
};

/** What a person has to know about a code; the gateway's own codes have their advice elsewhere. */
const NOTES: Readonly<Record<string, string>> = {
  other_text_found:
    "other_text_found: the recipient got something else at that time. The text differs when APP_BASE_URL or opsctl's" +
    " version is another one since.",
  evidence_outside_time:
    "evidence_outside_time: what was found was sent earlier, or more than ten minutes after the dispatch. Compare the" +
    " clocks, and decide by hand.",
  evidence_of_another_delivery:
    "evidence_of_another_delivery: the ledger has that message with another delivery, or had it until the owner was" +
    " deleted.",
  evidence_several:
    "evidence_several: there are several messages like it; find out which one is this delivery's.",
  evidence_shared:
    "evidence_shared: another open delivery went to a number with the same end, with the same text; decide both by hand.",
  evidence_not_sent:
    "evidence_not_sent: the provider took the message, and its last word is that it was not sent. --settle leaves it" +
    " alone; decide by hand.",
  recipient_changed:
    "recipient_changed: users.phone is another number by now, and the ledger keeps only the end of the old one.",
  report_pruned: "report_pruned: the report's content was removed, so its text is not known any more.",
  delivery_busy: "delivery_busy: a run still works on it; look it up when that has ended.",
  gateway_not_configured:
    "gateway_not_configured: set APP_BASE_URL, GATEWAY_URL and GATEWAY_ADMIN_KEY as for the weekly run.",
  email_not_configured: "email_not_configured: set EMAIL_READ_API_KEY, a key that may read what was sent.",
  restricted_api_key:
    "restricted_api_key: the key may only send. Set EMAIL_READ_API_KEY to one with full access, for this command alone.",
  email_list_too_long:
    "email_list_too_long: the provider's list was not read to that time (100000 e-mails at most).",
  look_up_interrupted:
    "look_up_interrupted: the command was ended before this delivery's turn; run it again.",
  timeline_entry_failed: "timeline_entry_failed: write the missing entries with opsctl deliveries repair.",
};

function notesOf({ status, channel, code, remark }: LookUp): string[] {
  const proof = status === "not_found" ? [PROVES_NOTHING[channel]] : [];
  return [...proof, ...[code, remark].flatMap((one) => (one === null ? [] : noteOn(one)))];
}

function noteOn(code: string): string[] {
  const known = Object.hasOwn(NOTES, code) ? NOTES[code] : undefined;
  if (known !== undefined) return [known];
  const advice = gatewayAdvice({ code }, WEEKLY_GATEWAY);
  return advice === null ? [] : [`${code}: ${advice.problem}. ${advice.fix}.`];
}

function nextOf(lookUps: readonly LookUp[], screen: Screen): string {
  const found = lookUps.filter(({ status, state }) => status === "found" && state === "unknown");
  const open = found.filter(({ code }) => code === null);
  const byHand = lookUps.filter(
    (one) => one.status === "not_unique" || one.status === "not_found" || (found.includes(one) && one.code),
  );
  const which = lookUps.length === 1 ? lookUps[0]!.id : "--all";
  const lines = [
    ...(open.length > 0
      ? [`Record what was found: ${unbroken(`opsctl deliveries look-up ${which} --settle`)}`]
      : []),
    ...(byHand.length > 0
      ? [`Decide the others manually: ${unbroken(`opsctl deliveries show ${byHand[0]!.id}`)}`]
      : []),
    ...(byHand.length > 1
      ? [`All that is in doubt: ${unbroken("opsctl deliveries list --state unknown")}`]
      : []),
  ];
  const steps = lines.map((line) => `  ${line}`);
  return lines.length === 0 ? "" : `\nNext:\n${prose(steps, screen, { indent: "    " })}`;
}
