import { expect, test } from "bun:test";
import { adviceLines } from "../../../lib/text/terminal/advice-lines.ts";
import { hangingLines } from "../../../lib/text/terminal/hanging-lines.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { terminal } from "../support/terminal.ts";

const TEXT = "the service does not answer on its port";

test("hangingLines() is one line where nothing limits it", () => {
  expect(hangingLines("  FAIL  ", TEXT, NO_TERMINAL)).toEqual([`  FAIL  ${TEXT}`]);
});

test("hangingLines() goes on below the text, and below the head where there is no room beside it", () => {
  expect(hangingLines("  FAIL  ", TEXT, terminal(36))).toEqual([
    "  FAIL  the service does not answer",
    "        on its port",
  ]);
  expect(hangingLines("  socket monitor  ", TEXT, terminal(40))).toEqual([
    "  socket monitor",
    "      the service does not answer on its",
    "      port",
  ]);
  expect(hangingLines(" ".repeat(18), TEXT, terminal(40))).toEqual([
    "      the service does not answer on its",
    "      port",
  ]);
});

test("hangingLines() counts columns, and takes out what must not be printed before it breaks a line", () => {
  const clean = (text: string) => text.replace("98 76", "***");
  expect(hangingLines("株式 ", `${"株".repeat(12)} 98 76 x`, terminal(29, { clean }))).toEqual([
    `株式 ${"株".repeat(12)}`,
    "     *** x",
  ]);
});

test.each([
  "install -D -m 0600 -o opsctl /dev/null /etc/opsctl/weekly.env # then fill it in",
  "grep opsctl /etc/cron.d/opsctl; systemctl status cron; tail /var/log/opsctl/collect-metrics.log",
  "opsctl reports status; opsctl deliveries look-up --all",
])("adviceLines() never breaks a command: %s", (command) => {
  expect(adviceLines("-> ", command, terminal(30))).toEqual([`-> ${command}`]);
});

test.each([
  [
    "Mend it by what this command names: opsctl weekly --dry-run --json",
    ["-> Mend it by what this", "   command names:", "   opsctl weekly --dry-run --json"],
  ],
  [
    "systemctl status opsctl-webhook; or correct the address",
    ["-> systemctl status", "   opsctl-webhook; or correct", "   the address"],
  ],
  ["opsctl webhook dead list, then retry each", ["-> opsctl webhook dead list,", "   then retry each"]],
])("adviceLines() breaks a sentence between words: %s", (sentence, lines) => {
  expect(adviceLines("-> ", sentence, terminal(30))).toEqual(lines);
});
