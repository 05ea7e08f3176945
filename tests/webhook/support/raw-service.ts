/** A running webhook to which a test speaks byte by byte. */
import { afterAll, beforeAll } from "bun:test";
import { type RawAnswer, request, speak } from "../../platform/support/raw-http.ts";
import type { Service } from "./start-service.ts";

/** A secret with blanks, which a URL would encode. */
export const SECRET = "s3cret of the probe";

/** The header with it. */
export const OWN = `X-Webhook-Secret: ${SECRET}`;
/** The header of a body in chunks. */
export const CHUNKED = "Transfer-Encoding: chunked";

/** What a test of the raw port has. */
export type RawService = {
  readonly service: Service;
  readonly port: number;
  /** Sends these bytes on a connection of their own, and reads until the service closes it; `half` ends ours first. */
  say(bytes: string | Uint8Array, half?: boolean): Promise<RawAnswer>;
  patiently: Service["patiently"];
};

/** Starts a service for all tests of a file, which has `SECRET`. */
export function rawService(start: () => Promise<Service>): RawService {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.stop());
  const portOf = () => Number(new URL(service.url).port);
  return {
    get service() {
      return service;
    },
    get port() {
      return portOf();
    },
    say: (bytes, half = false) => speak(portOf(), [bytes], undefined, undefined, half),
    patiently: (work) => service.patiently(work),
  };
}

/** A body with one resolved alert, which makes no issue. */
export function alertBody(more: object = {}): string {
  return JSON.stringify({ status: "resolved", labels: { alertname: "A" }, ...more });
}

/** A post with the right secret unless `headers` has others. */
export function post(headers: string[] = [OWN], body: string | Uint8Array = alertBody()): Buffer {
  return request("POST /webhook", headers, body);
}

/** A text in chunks. */
export function chunked(body: string, size = 60_000): string {
  const chunks = body.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`;
}
