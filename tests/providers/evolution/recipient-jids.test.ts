import { expect, test } from "bun:test";
import { recipientJids } from "../../../lib/providers/evolution/recipient-jids.ts";

test.each([
  ["5511987654321", ["5511987654321", "551187654321"]],
  ["551187654321", ["551187654321", "5511987654321"]],
  // A landline has no extra digit, and a mobile line never begins below 6.
  ["551133334444", ["551133334444"]],
  ["5215512345678", ["5215512345678", "525512345678"]],
  ["525512345678", ["525512345678", "5215512345678"]],
  ["5491123456789", ["5491123456789", "541123456789"]],
  ["541123456789", ["541123456789", "5491123456789"]],
  ["351912345678", ["351912345678"]],
])("recipientJids() of %s", (number, forms) => {
  expect(recipientJids(number)).toEqual([...forms.map((form) => `${form}@s.whatsapp.net`), number]);
  expect(
    recipientJids(number).every((jid) => jid.replace("@s.whatsapp.net", "").endsWith(number.slice(-4))),
  ).toBe(true);
});
