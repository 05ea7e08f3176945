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

  test("says of messages without an acknowledgement that they may not have arrived, and what helps", () => {
    const { text, command } = reasonAdvice({ level: "bad", status: "unacknowledged", count: 3 }, NOW_MS);
    expect(text).toBe(
      "O gateway aceitou as últimas 3 mensagens, e o WhatsApp não confirmou nenhuma: podem não ter chegado. " +
        "Reinicie a instância no gateway e olhe o telefone que envia; termina com a primeira mensagem confirmada.",
    );
    expect(command).toBeNull();
  });

  test("says of a post with another secret that the platform may not be heard, and who can tell", () => {
    const atMs = NOW_MS - 180_000;
    expect(reasonAdvice({ level: "warn", status: "secret_refused", atMs }, NOW_MS)).toEqual({
      text:
        "O último post de fora, há 3 min, foi recusado: tem outro segredo. Se foi a plataforma, nenhum alerta dela " +
        "chega. Quem foi, e o que fazer:",
      command: "opsctl doctor webhook",
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
