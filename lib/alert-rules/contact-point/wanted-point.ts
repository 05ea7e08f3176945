import type { Secret } from "../../platform/secrets/secret.ts";

/** The webhook's contact point as it has to be: its name, where it posts, and with which secret. */
export type WantedPoint = { name: string; url: string; bearer: Secret };
