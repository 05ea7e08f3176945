import { userInfo } from "node:os";
import process from "node:process";
import { wasRoot } from "../../../lib/platform/privileges.ts";

/** The name of the person who started the command, root before it became the account; else the user id. */
export function loginName(): string {
  try {
    return wasRoot() ? "root" : userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
