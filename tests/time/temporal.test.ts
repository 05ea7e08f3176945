import { expect, test } from "bun:test";
import { Temporal } from "../../lib/time/temporal.ts";

test("Temporal is the runtime's own where there is one", () => {
  expect(Temporal).toBe(globalThis.Temporal);
});

test("Temporal comes from the polyfill where the runtime has none", async () => {
  const program = `delete globalThis.Temporal;
    const { Temporal } = await import(${JSON.stringify(import.meta.resolve("../../lib/time/temporal.ts"))});
    const { weekWindow } = await import(${JSON.stringify(import.meta.resolve("../../lib/time/week-window.ts"))});
    console.log(weekWindow(Temporal.Instant.from("2026-11-23T11:00:00Z")).start.toString());`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
  expect((await new Response(child.stdout).text()).trim()).toBe("2026-11-16T03:00:00Z");
});
