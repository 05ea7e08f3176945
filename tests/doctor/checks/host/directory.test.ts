import { afterEach, expect, spyOn, test } from "bun:test";
import process from "node:process";
import { accountOf } from "../../../../lib/doctor/checks/host/directory.ts";
import type { CheckContext } from "../../../../lib/doctor/context/check-context.ts";

const spies: { mockRestore(): void }[] = [];
afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore();
});

test("accountOf() is this account with all its groups where the host has no account of the service", async () => {
  spies.push(spyOn(process as Required<typeof process>, "geteuid").mockReturnValue(1000));
  spies.push(spyOn(process as Required<typeof process>, "getegid").mockReturnValue(1000));
  spies.push(spyOn(process as Required<typeof process>, "getgroups").mockReturnValue([4, 33]));
  const context = { account: async () => null } as unknown as CheckContext;
  expect(await accountOf("weekly", context)).toEqual({
    ...{ name: "this account", uid: 1000 },
    gids: [1000, 4, 33],
  });
});
