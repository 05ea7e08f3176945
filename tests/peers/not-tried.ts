import process from "node:process";
import { NOT_TRIED } from "./run-peer.ts";

/** Ends this peer's file: it could not be tried here, and why. */
export function notTried(reason: string): never {
  console.log(reason);
  process.exit(NOT_TRIED);
}
