import { describe, expect, test } from "bun:test";
import { createLog, type LogFormat, type LogLevel } from "../../../lib/platform/log/log.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";

const now = () => new Date("2026-11-23T11:00:00.000Z");

function logged(options: { format?: LogFormat; level?: LogLevel; colour?: boolean } = {}) {
  const written: string[] = [];
  const stream = { write: (text: string) => written.push(text) };
  const log = createLog({ stream, format: "json", level: "info", now, ...options });
  return { log, written };
}

describe("createLog()", () => {
  test("writes one JSON object a line as json", () => {
    const { log, written } = logged();
    log.info("Sent\na message", { channel: "email", count: 2 });
    expect(written).toHaveLength(1);
    expect(written[0]).toEndWith("\n");
    expect(written[0]?.trimEnd()).not.toContain("\n");
    expect(JSON.parse(written[0] as string)).toEqual({
      time: "2026-11-23T11:00:00.000Z",
      level: "info",
      msg: "Sent\na message",
      channel: "email",
      count: 2,
    });
  });

  test("fields cannot take the place of time, level and msg", () => {
    const { log, written } = logged();
    log.warn("real", { msg: "false", level: "debug", time: "never" });
    expect(JSON.parse(written[0] as string)).toEqual({
      time: now().toISOString(),
      level: "warn",
      msg: "real",
    });
  });

  test("writes lines for people as text, coloured only when asked", () => {
    const { log, written } = logged({ format: "text" });
    log.error("No answer", { peer: "gateway", text: "two words" });
    expect(written).toEqual(['11:00:00 error No answer peer=gateway text="two words"\n']);
    const coloured = logged({ format: "text", colour: true });
    coloured.log.error("No answer");
    expect(coloured.written[0]).toContain("\u001b[31merror");
  });

  test("shows people the code at the end of the first line, and the hint below all of them", () => {
    const { log, written } = logged({ format: "text" });
    log.error("Cannot start\n  A: is missing\n  B: is not a number", {
      code: "CONFIG_INVALID",
      hint: "Set them",
    });
    expect(written).toEqual([
      "11:00:00 error Cannot start code=CONFIG_INVALID\n  A: is missing\n  B: is not a number\n  -> Set them\n",
    ]);
  });

  test("removes control characters of a service's text", () => {
    const { log, written } = logged({ format: "text" });
    log.info("said \u001b[2J\u001b]0;title\u0007\u0008hello");
    for (const control of ["\u001b", "\u0007", "\u0008"]) expect(written[0]).not.toContain(control);
    expect(written[0]).toContain("hello");
  });

  test("shows what reorders, hides or breaks a line as an escape", () => {
    const { log, written } = logged({ format: "text" });
    log.error("name\u202e.txt\n  B\u2028C", { file: "/etc/a\u200bb", hint: "Remove x\ufeff" });
    expect(written).toEqual([
      "11:00:00 error name\\u202e.txt file=/etc/a\\u200bb\n  B\\u2028C\n  -> Remove x\\ufeff\n",
    ]);
  });

  test("shows as an escape in JSON, too, what reorders or hides, and keeps the value", () => {
    const { log, written } = logged();
    const name = "acme\u202e\u3164\u{E0041}\u009b";
    log.error(name, { tenant: name });
    expect(written[0]).not.toMatch(/[\u202e\u3164\u{E0041}\u009b]/u);
    expect(JSON.parse(written[0] as string)).toMatchObject({ msg: name, tenant: name });
  });

  test("leaves accents, and emoji of several characters, as they are", () => {
    const { log, written } = logged({ format: "text" });
    log.info("São Paulo \u{1f469}\u200d\u{1f4bb} e\u0301");
    expect(written).toEqual(["11:00:00 info  São Paulo \u{1f469}\u200d\u{1f4bb} e\u0301\n"]);
  });

  test("redacts message, fields and errors, and shows no stack", () => {
    const secret = new Secret("canary-in-the-log");
    const { log, written } = logged({ level: "debug" });
    const error = Object.assign(new Error("refused canary-in-the-log for maria@example.com"), { code: "X1" });
    log.debug("with canary-in-the-log", { secret, error, deep: [{ url: "https://u:hidden-word@h/" }] });
    expect(JSON.parse(written[0] as string)).toMatchObject({
      msg: "with <secret>",
      secret: "<secret>",
      error: { code: "X1", message: "refused <secret> for m***@example.com" },
      deep: [{ url: "https://<secret>@h/" }],
    });
    for (const hidden of ["canary", "hidden-word"]) expect(written[0]).not.toContain(hidden);
    expect(written[0]).not.toContain("at ");
  });

  test("survives fields that are not JSON", () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const { log, written } = logged();
    log.info("odd", { big: 10n, missing: undefined });
    log.info("round", { circular });
    expect(JSON.parse(written[0] as string)).toMatchObject({ big: "10" });
    expect(JSON.parse(written[1] as string)).toMatchObject({ msg: "round" });
  });

  test("keeps the level that it was given", () => {
    const { log, written } = logged({ level: "warn" });
    log.debug("no");
    log.info("no");
    log.warn("yes");
    log.error("yes");
    expect(written).toHaveLength(2);
  });

  test("writes equal lines as often as they come", () => {
    const { log, written } = logged();
    for (let index = 0; index < 20; index++) log.info("same");
    expect(written).toHaveLength(20);
  });
});
