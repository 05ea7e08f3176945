import { expect, test } from "bun:test";
import fc from "fast-check";
import { ErrorCodeReader } from "../../../lib/platform/database/error-code.ts";
import { MessageReader } from "../../../lib/platform/database/messages.ts";

type Message = { type: string; body: Buffer };

const text = (value: string) => Buffer.from(value, "latin1");

function bytesOf({ type, body }: Message): Buffer {
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

/** The codes of the errors, read from a stream that comes in these parts. */
function codesIn(parts: Iterable<Uint8Array>): string[] {
  const codes: string[] = [];
  const code = new ErrorCodeReader();
  const reader = new MessageReader((type) => {
    if (type === "E") codes.push(code.end());
  }, code);
  for (const part of parts) reader.read(part);
  return codes;
}

/** Texts that look like the field, or like its neighbours. */
const value = fc
  .oneof(fc.constantFrom("C25006", "25006", "VERROR", "ERROR", "C"), fc.string({ unit: "binary-ascii" }))
  .map((some) => some.replaceAll("\0", ""));
const otherField = fc.tuple(fc.constantFrom(..."SVMDHPpqWstcdnFLR"), value);
const sqlState = fc.stringMatching(/^[0-9A-Z]{5}$/);

/** An error's or a notice's body: its code among the other fields, in any order. */
const bodyWith = (code: string) =>
  fc
    .tuple(fc.array(otherField, { maxLength: 6 }), fc.nat())
    .map(([fields, at]) => fields.toSpliced(at % (fields.length + 1), 0, ["C", code]))
    .map((fields) => text(`${fields.map(([kind, said]) => `${kind}${said}\0`).join("")}\0`));

const error = fc
  .oneof(fc.constant("25006"), sqlState)
  .chain((code) => bodyWith(code).map((body) => ({ type: "E", body, codes: [code] })));
/** With the bytes of a refusal, which make none outside an error. */
const other = fc
  .oneof(bodyWith("25006"), fc.uint8Array({ maxLength: 30 }).map(Buffer.from))
  .chain((body) => fc.constantFrom(..."DNZSC").map((type) => ({ type, body, codes: [] as string[] })));

test("ErrorCodeReader finds the code of each error, at every cut in two and in single bytes", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(error, other), { maxLength: 4 }), (messages) => {
      const bytes = Buffer.concat(messages.map(bytesOf));
      const codes = messages.flatMap((message) => message.codes);
      for (let at = 0; at <= bytes.length; at += 1)
        expect(codesIn([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(codes);
      expect(codesIn([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(codes);
    }),
  );
});

test("ErrorCodeReader takes no text for a code that is longer, or has no end of its own", () => {
  const codeOf = (body: string) => codesIn([bytesOf({ type: "E", body: text(body) })])[0];
  expect(codeOf("SERROR\0MC25006\0\0")).toBe("");
  expect(codeOf("C250067\0\0")).not.toBe("25006");
  expect(codeOf(`C25006${"0".repeat(100_000)}\0\0`)).toHaveLength(6);
  // A body without its end does not reach into the next one.
  const broken = [text("SERROR\0C"), text("25006\0\0")].map((body) => bytesOf({ type: "E", body }));
  expect(codesIn(broken)).toEqual(["", ""]);
});
