/** Generated bodies that are bad in every way. */
import fc from "fast-check";

const nameOfKey = fc.constantFrom(
  ...["alerts", "status", "labels", "annotations", "alertname", "severity", "ruleGroup", "fingerprint"],
  ...["summary", "description", "startsAt", "values", "valueString", "truncatedAlerts", "generatorURL"],
  ...["__proto__", "constructor", "toString", "valueOf", "toJSON", "hasOwnProperty", "length", ""],
);
const leaf = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -0,
    1e308,
    "",
    "firing",
    "resolved",
    "vps-infra",
    "\u0000",
    "\ud800",
    "0001-01-01",
  ),
  fc.string({ unit: "binary" }),
  fc.double({ noNaN: true }),
);
const { anything } = fc.letrec((tie) => ({
  anything: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    leaf,
    fc.array(tie("anything"), { maxLength: 4 }),
    fc
      .array(fc.tuple(nameOfKey, tie("anything")), { maxLength: 6 })
      .map((pairs) => ({ object: pairs }) as unknown),
  ),
}));

/** As JSON text, so that `__proto__` stays a key and a key may come twice. */
function jsonOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const { object } = value as { object: [string, unknown][] };
  return `{${object.map(([key, inner]) => `${JSON.stringify(key)}:${jsonOf(inner)}`).join(",")}}`;
}

const nested = fc
  .tuple(fc.constantFrom("[", '{"a":', '{"alerts":[', '{"labels":{"x":'), fc.integer({ min: 1, max: 3_000 }))
  .map(([part, depth]) => part.repeat(depth));
/** JSON that is no alert, or nearly one, or broken off; deep nests; bytes that are no text. */
export const badPayload = fc.oneof(
  anything.map((value) => jsonOf(value)),
  anything.map((value) => `{"alerts":[${jsonOf(value)}]}`),
  fc.tuple(anything, fc.nat(200)).map(([value, cut]) => jsonOf(value).slice(0, cut)),
  nested,
  fc.string({ unit: "binary" }),
  fc.uint8Array({ maxLength: 40 }),
  fc.tuple(anything, fc.uint8Array({ minLength: 1, maxLength: 3 }), fc.nat(50)).map(([value, noise, at]) => {
    const bytes = new Uint8Array(Buffer.from(jsonOf(value)));
    bytes.set(noise.slice(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length));
    return bytes;
  }),
);
