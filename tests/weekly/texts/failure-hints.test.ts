import { describe, expect, test } from "bun:test";
import { hintFor } from "../../../lib/weekly/texts/failure-hints.ts";

describe("hintFor()", () => {
  test.each([
    ["meta_190", undefined, "Meta refuses the access token of the gateway's instance. Give the instance"],
    ["gateway_unauthorized", undefined, "the gateway refuses the key. Correct GATEWAY_ADMIN_KEY"],
    ["sem_instancia_gateway", "instance_close", "the instance is not connected to its phone. Wait a"],
    ["sem_instancia_gateway", "gateway_timeout", "the gateway did not answer in time. Look whether"],
    [
      "sem_instancia_gateway",
      "gateway_http_502",
      "the gateway, or a proxy before it, answers HTTP 502. Look",
    ],
  ])("the hint for %p because of %p begins with %p", (code, cause, start) => {
    expect(hintFor({ step: "whatsapp", code, cause })).toStartWith(start);
  });

  // The message may have been sent: "it did not answer" would be half of the truth.
  test.each(["gateway_timeout", "gateway_http_500", "gateway_connection_lost", "gateway_answer_unreadable"])(
    "the hint for %p, met by a send, is none",
    (code) => {
      expect(hintFor({ step: "whatsapp", code })).toBeUndefined();
    },
  );

  test.each(["constructor", "toString", "meta_", "gateway_http_5"])("the hint for %p is none", (code) => {
    expect(hintFor({ step: "whatsapp", code })).toBeUndefined();
    expect(hintFor({ step: "whatsapp", code: "sem_instancia_gateway", cause: code })).toBeUndefined();
  });

  test.each(["APP_HTTP_401", "APP_HTTP_409", "APP_HTTP_422"])(
    "the hint for %p at one network says that it is this connection's, not the run's",
    (code) => {
      expect(hintFor({ step: "social", code })).toStartWith("the application refuses this connection alone");
    },
  );

  test.each(["APP_HTTP_408", "APP_HTTP_429", "APP_HTTP_503"])(
    "the hint for %p at one network is none",
    (code) => {
      expect(hintFor({ step: "social", code })).toBeUndefined();
    },
  );
});
