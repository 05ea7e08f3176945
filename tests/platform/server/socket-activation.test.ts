import { describe, expect, test } from "bun:test";
import { activatedSockets } from "../../../lib/platform/server/socket-activation.ts";

const PID = 4711;
const read = (variables: Record<string, string>) => Object.fromEntries(activatedSockets(variables, PID));
const all = { LISTEN_PID: String(PID), LISTEN_FDS: "2", LISTEN_FDNAMES: "webhook:admin" };

describe("activatedSockets()", () => {
  test("gives descriptors by name, whatever their order", () => {
    expect(read({ ...all })).toEqual({ webhook: 3, admin: 4 });
    expect(read({ ...all, LISTEN_FDNAMES: "admin:webhook" })).toEqual({ admin: 3, webhook: 4 });
    expect(read({ ...all, LISTEN_FDS: "3", LISTEN_FDNAMES: "other:webhook:webhook" })).toEqual({
      webhook: 4,
    });
  });

  test.each([
    [{}],
    [{ ...all, LISTEN_PID: "1" }],
    [{ ...all, LISTEN_PID: "" }],
    [{ ...all, LISTEN_FDS: "0" }],
    [{ ...all, LISTEN_FDS: "-1" }],
    [{ ...all, LISTEN_FDS: "2x" }],
    [{ ...all, LISTEN_FDNAMES: "" }],
    [{ LISTEN_FDS: "1", LISTEN_FDNAMES: "webhook" }],
  ])("gives nothing for %j", (variables) => {
    expect(read({ ...variables } as Record<string, string>)).toEqual({});
  });

  test("believes no more names than descriptors", () => {
    expect(read({ ...all, LISTEN_FDS: "1" })).toEqual({ webhook: 3 });
  });

  test("removes the variables, also those of another process", () => {
    for (const LISTEN_PID of [String(PID), "1"]) {
      const env: Record<string, string> = { ...all, LISTEN_PID, OTHER: "x" };
      activatedSockets(env, PID);
      expect(env).toEqual({ OTHER: "x" });
    }
  });
});
