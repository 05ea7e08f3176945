import { describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { shownProviderId } from "../../lib/weekly/delivery/provider-id.ts";

describe("shownProviderId()", () => {
  test("leaves the ids that hold no number as they are", () => {
    for (const id of ["3EB0C767D26A1D8E7F", "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"])
      expect(shownProviderId(id)).toBe(id);
  });

  test("shows the end of Meta's ids alone: what is left holds no digit of the number", () => {
    const number = "5511987654321";
    const parts = [
      Buffer.from([0x1d, 0x0d]),
      Buffer.from(number),
      Buffer.from([0x15, 0x02, 0x00, 0x11, 0x18, 0x12]),
    ];
    const id = `wamid.${Buffer.concat([...parts, Buffer.from("3EB0C767D26A1D8E7F"), Buffer.from([0])]).toString("base64")}`;
    const shown = shownProviderId(id);
    expect(shown).toBe(`wamid.…${id.slice(-12)}`);
    expect(Buffer.from(id.slice(6), "base64").toString("latin1")).toContain(number);
    expect(Buffer.from(shown.slice(7), "base64").toString("latin1")).not.toMatch(/987|654|321/);
  });

  test("shows the end of a short one", () => {
    expect(shownProviderId("wamid.AB")).toBe("wamid.…AB");
  });
});
