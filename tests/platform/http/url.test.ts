import { describe, expect, test } from "bun:test";
import { peerUrl, splitCredentials } from "../../../lib/platform/http/url.ts";

describe("peerUrl()", () => {
  test.each([
    ["https://peer.example", "https://peer.example/message/sendText/ops"],
    ["https://peer.example/", "https://peer.example/message/sendText/ops"],
    ["https://peer.example/gateway", "https://peer.example/gateway/message/sendText/ops"],
    ["https://peer.example/gateway//", "https://peer.example/gateway/message/sendText/ops"],
    ["https://peer.example//gateway/?x=1#y", "https://peer.example/gateway/message/sendText/ops"],
  ])("puts the call below the base %s", (base, expected) => {
    expect(peerUrl(new URL(base), ["message", "sendText", "ops"])?.href).toBe(expected);
  });

  test("keeps a name one part of the path, whatever it holds", () => {
    const url = peerUrl(new URL("https://peer.example"), ["state", "a/b c?d#e%2Fñ"]);
    expect(url?.href).toBe("https://peer.example/state/a%2Fb%20c%3Fd%23e%252F%C3%B1");
  });

  test.each(["", ".", "..", "\ud800"])("refuses the part %j, which cannot be one", (part) => {
    expect(peerUrl(new URL("https://peer.example"), ["state", part])).toBeNull();
  });

  test("leaves the base alone", () => {
    const base = new URL("https://peer.example/x");
    peerUrl(base, ["y"]);
    expect(base.href).toBe("https://peer.example/x");
  });
});

describe("splitCredentials()", () => {
  test("moves name and password out of the address", () => {
    const { url, authorization } = splitCredentials(new URL("https://us%20er:p%C3%A4ss@peer.example/x"));
    expect(url.href).toBe("https://peer.example/x");
    expect(authorization).toBe(`Basic ${Buffer.from("us er:päss").toString("base64")}`);
  });

  test("has nothing to move from a plain address", () => {
    expect(splitCredentials(new URL("https://peer.example/x")).authorization).toBeNull();
  });
});
