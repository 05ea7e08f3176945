import { userInfo } from "node:os";
import process from "node:process";
import { starterOf } from "../../lib/platform/account/started-by.ts";

/** The name of the person who started the command, also where root handed it over; the user id where it has no name. */
export function loginName(): string {
  try {
    return starterOf(process.env) ?? userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
