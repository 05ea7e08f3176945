import { userInfo } from "node:os";
import process from "node:process";

/** The name of the person who started the command, also where root handed it over; the user id where it has no name. */
export function loginName(): string {
  try {
    const { OPSCTL_STARTED_BY } = process.env;
    if (OPSCTL_STARTED_BY) return OPSCTL_STARTED_BY;
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
