import { expect, test } from "bun:test";
import fc from "fast-check";
import { MessageReader } from "../../../lib/platform/database/messages.ts";

const message = fc.tuple(fc.constantFrom(..."ZDSQH"), fc.uint8Array({ maxLength: 40 }));

function bytesOf([type, body]: [string, Uint8Array]): number[] {
  const header = new DataView(new ArrayBuffer(5));
  header.setUint8(0, type.charCodeAt(0));
  header.setUint32(1, body.length + 4);
  return [...new Uint8Array(header.buffer), ...body];
}

test("MessageReader finds each message, wherever the network cuts them", () => {
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.integer({ min: 1, max: 30 })), (messages, sizes) => {
      const found: [string, number][] = [];
      const reader = new MessageReader((type, lastByte) => found.push([type, lastByte]));
      let rest = Uint8Array.from(messages.flatMap(bytesOf));
      for (const size of sizes) {
        reader.read(rest.subarray(0, size));
        rest = rest.subarray(size);
      }
      reader.read(rest);
      expect(found).toEqual(messages.map((each) => [each[0], bytesOf(each).at(-1)!]));
    }),
  );
});

test.each([0x0102, 0x010203, 0x01020304])("MessageReader takes all bytes of a length: %i", (length) => {
  const found: [string, number][] = [];
  const reader = new MessageReader((type, lastByte) => found.push([type, lastByte]));
  const header = new DataView(new ArrayBuffer(5));
  header.setUint8(0, "D".charCodeAt(0));
  header.setUint32(1, length);
  reader.read(new Uint8Array(header.buffer));
  reader.read(new Uint8Array(length - 5));
  expect(found).toEqual([]);
  reader.read(Uint8Array.of(7));
  expect(found).toEqual([["D", 7]]);
});
