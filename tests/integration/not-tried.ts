import process from "node:process";
import { NOT_TRIED } from "./run-integration.ts";

/** Ends an integration test that could not be tried here, with the reason. */
export function notTried(reason: string): never {
  console.log(reason);
  process.exit(NOT_TRIED);
}
