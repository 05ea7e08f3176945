import { describe, expect, test } from "bun:test";
import { createPutBackOwners, type PutBackOwner } from "../../../lib/weekly/outage/put-back.ts";

const owner = (tenantId: string, answers: PutBackOwner["answers"] = null): PutBackOwner => ({
  scope: { tenantId, userId: "user" },
  reportId: "report",
  code: "social_retry",
  answers,
});

describe("createPutBackOwners()", () => {
  test("gives each owner once, in order, those that are preferred first", () => {
    const list = createPutBackOwners();
    for (const name of ["a", "b", "c", "d"]) list.add(owner(name));
    expect(list.take()!.scope.tenantId).toBe("a");
    list.add(owner("a"));
    list.prefer(({ scope }) => scope.tenantId === "d" || scope.tenantId === "c");
    const rest = [list.take(), list.take(), list.take(), list.take(), list.take()];
    expect(rest.map((one) => one?.scope.tenantId)).toEqual(["c", "d", "b", "a", undefined]);
    expect(list.count()).toBe(0);
  });

  test("remembers the answers of twenty owners at a time", () => {
    const list = createPutBackOwners();
    for (let i = 0; i < 20; i += 1) {
      expect(list.mayRemember()).toBe(true);
      list.add(owner(`remembered ${i}`, new Map()));
      for (const other of ["other", "another"]) list.add(owner(`${other} ${i}`));
    }
    expect(list.mayRemember()).toBe(false);
    list.take();
    expect(list.mayRemember()).toBe(true);
    list.add(owner("remembered again", new Map()));
    list.take();
    expect(list.mayRemember()).toBe(false);
  });
});
