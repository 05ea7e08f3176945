import { describe, expect, test } from "bun:test";
import { reasonAdvice } from "../../../../lib/webhook/http/page/wording.ts";
import { NOW_MS } from "../../support/page-facts.ts";

const lost = (dead: number, inDoubt: number) =>
  reasonAdvice({ level: "warn", status: "lost", dead, inDoubt }, NOW_MS);

describe("reasonAdvice()", () => {
  test("tries again what was given up", () => {
    expect(lost(2, 0)).toEqual({
      text: "2 desistidos: não são mais tentados. Tentar de novo:",
      command: "opsctl webhook dead retry --all",
    });
  });

  test.each([
    [0, 1],
    [2, 1],
  ])("never sends again what may have arrived: %p given up, %p in doubt", (dead, inDoubt) => {
    const { text, command } = lost(dead, inDoubt);
    expect(text).toContain("olhe antes o telefone");
    expect(command).toBe("opsctl webhook dead list");
  });
});
