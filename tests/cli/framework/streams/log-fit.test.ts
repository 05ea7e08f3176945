import { describe, expect, test } from "bun:test";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { logFit } from "../../../../cli/framework/streams/log-fit.ts";
import { createLog, type Log } from "../../../../lib/platform/log/log.ts";
import { displayWidth } from "../../../../lib/text/display-width.ts";

/** What a terminal of so many columns shows of the log. */
function shown(columns: number | undefined, write: (log: Log) => void, { colour = false } = {}): string {
  let text = "";
  const stream = { write: (part: string) => (text += part) };
  const now = () => new Date("2026-11-23T11:00:00Z");
  write(createLog({ stream, format: "text", level: "info", colour, now, fit: logFit(() => columns) }));
  return text;
}

const missing = (log: Log) =>
  log.error(
    "Cannot start: 1 setting is missing or invalid\n  APP_BASE_URL: is missing; expected the http or https URL that the paths are added to",
    {
      code: "CONFIG_INVALID",
      hint: "Set it in /etc/opsctl/weekly.env, then: opsctl weekly --dry-run --skip-whatsapp --skip-email",
    },
  );

describe("logFit()", () => {
  test("breaks sentences between words, and leaves the command at the end of an advice whole", () => {
    expect(shown(60, missing)).toBe(
      [
        "11:00:00 error Cannot start: 1 setting is missing or invalid",
        "    code=CONFIG_INVALID",
        "  APP_BASE_URL: is missing; expected the http or https URL",
        "    that the paths are added to",
        "  -> Set it in /etc/opsctl/weekly.env, then:",
        "     opsctl weekly --dry-run --skip-whatsapp --skip-email",
        "",
      ].join("\n"),
    );
  });

  test("does not break a value that fits into a line", () => {
    const said = (file: string) => shown(60, (log) => log.info("This settings file is not read", { file }));
    expect(said("a name of five words")).toBe(
      '11:00:00 info  This settings file is not read\n    file="a name of five words"\n',
    );
    expect(said("a ".repeat(50).trim()).split("\n").length).toBeGreaterThan(3);
  });

  test.each([40, 48, 56])("leaves a command within a message whole on %i columns", (columns) => {
    const line = "  TRIGGER_SECRET: is missing; a secret: opsctl secret set TRIGGER_SECRET";
    const text = shown(columns, (log) => log.error(`Cannot start\n${line}`));
    expect(text.split("\n").map((one) => one.trim())).toContain("opsctl secret set TRIGGER_SECRET");
  });

  test.each([40, 60, 80])("leaves commands at the end of an advice whole on %i columns", (columns) => {
    const command = "mv -nT /etc/opsctl/collect-metrics.env /etc/opsctl/collect-metrics.env.foreign";
    const hint = `Run it as root, with a new file of root's, because others chose what is in this one. Look at it, then move it away: ${command}`;
    const text = shown(columns, (log) => log.error("Cannot read", { hint }));
    expect(text.split("\n").map((one) => one.trim())).toContain(command);
  });

  test("colours the level of a broken line, too", () => {
    const text = shown(60, missing, { colour: true });
    expect(text).toStartWith("11:00:00 \u001b[31merror\u001b[39m Cannot start: ");
    expect(stripVTControlCharacters(text)).toBe(shown(60, missing));
  });

  test.each([undefined, 0, 20])("leaves lines whole on a terminal of %p columns", (columns) => {
    expect(shown(columns, missing).split("\n")).toHaveLength(4);
  });

  test("never makes a line wider than the terminal but of one word, and loses none", () => {
    const word = fc.stringMatching(/^[a-zé株]{1,30}$/);
    const words = fc.array(word, { minLength: 1, maxLength: 40 }).map((all) => all.join(" "));
    fc.assert(
      fc.property(words, words, fc.integer({ min: 40, max: 200 }), (message, hint, columns) => {
        const text = shown(columns, (log) => log.warn(message, { hint: `Do ${hint}` }));
        const lines = text.trimEnd().split("\n");
        const wide = lines.filter((line) => displayWidth(line) > columns);
        expect(wide.filter((line) => line.trim().includes(" "))).toEqual([]);
        expect(text.split(/\s+/).join(" ").trim()).toBe(`11:00:00 warn ${message} -> Do ${hint}`);
      }),
    );
  });
});
