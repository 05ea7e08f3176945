import { describe, expect, test } from "bun:test";
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { available, payloadOf } from "../../fixtures/payloads.ts";

const ALL = { bounced: 0, complained: 0, failed: 0, delayed: 0, suppressed: 0, noEvent: 0 };
const MAIN = { sends: 40, openRate: 0.5, clickRate: 0.1 };
const LIST =
  "0 devolvidos, 0 spam, 0 falhas no envio, 0 atrasados, 0 bloqueados, 0 sem informação de entrega";

function textOf(channel: "email" | "instagram", metrics: object, previous?: object | null): string {
  const entry = {
    ...available({ ...MAIN, ...metrics }, []),
    ...(previous === undefined ? {} : { previous }),
  };
  const channels = { [channel]: entry } as Partial<Payload["channels"]>;
  return renderEmail(payloadOf({ channels }), { appBaseUrl: "https://app.example.com" }).text;
}

describe("the line of zeros", () => {
  test("says that there was no trouble only where every kind of it was measured", () => {
    expect(textOf("email", ALL)).toContain(`Sem problemas de entrega: ${LIST}`);
    for (const metrics of [
      { ...ALL, bounced: null },
      { ...ALL, bounced: 2 },
    ]) {
      const text = textOf("email", metrics);
      expect(text).not.toContain("Sem problemas");
      expect(text).toContain("Nenhum caso: 0 spam, 0 falhas no envio,");
    }
  });

  test("says of zeros that they are as before only where that was measured", () => {
    expect(textOf("email", ALL, { ...MAIN, ...ALL })).toContain(`${LIST}, como na semana anterior`);
    expect(textOf("email", ALL, { ...MAIN, bounced: 0 })).toContain("0 devolvidos (igual), 0 spam, 0");
    expect(textOf("email", ALL, { ...MAIN, bounced: 3 })).toContain("- Devolvidos: 0 (3 a menos)");
  });

  test("keeps a rate of bounces that was not zero the week before, whatever is known of their number", () => {
    const rates = [
      { ...ALL, bounceRate: 0 },
      { ...MAIN, bounceRate: 0.03 },
    ] as const;
    expect(textOf("email", ...rates)).toContain("- Taxa de devolução: 0,0% (3,0 p.p. a menos)");
    expect(textOf("email", rates[0], { ...MAIN, bounceRate: 0 })).not.toContain("Taxa de devolução");
  });

  test("is about e-mails alone: a network's figure of the same name is a figure like others", () => {
    const large = { followers: 10, reach: 20, engagementRate: 0.1 };
    const text = textOf("instagram", { ...large, failed: 0, delayed: 4 }, { failed: 0, delayed: 1 });
    expect(text).toContain("- Failed: 0 (igual)");
    expect(text).toContain("- Delayed: 4 (3 a mais)");
    expect(text).not.toMatch(/Sem problemas|Nenhum caso/);
  });
});
