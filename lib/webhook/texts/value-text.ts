import { formatNumber } from "../../text/pt-br.ts";
import type { Alert } from "../alert/alert.ts";
import { numberIn } from "../alert/value.ts";

const BYTE_UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;
const BYTE_STEP = 1024;
/** Below this, two decimals would show nothing, or zero: a small value must not look like none. */
const SMALLEST = 0.01;
/** Our rules say of seconds above a billion that something never happened. */
const [BILLION, TRILLION] = [1e9, 1e12];

/**
 * The value of an alert for people: `11,2 %`, `584 MiB`, `1.204`; null without one.
 *
 * Shape: a text that is no number is returned as it was sent.
 */
export function valueText({ value, unit }: Pick<Alert, "value" | "unit">): string | null {
  const number = value === null ? null : numberIn(value);
  if (number === null) return value;
  if (unit === "bytes") return bytesText(number);
  return unit === "percent" ? `${numberText(number)} %` : numberText(number);
}

function bytesText(bytes: number): string {
  let [size, at] = [bytes, 0];
  while (Math.abs(size) >= BYTE_STEP && at < BYTE_UNITS.length - 1) {
    size /= BYTE_STEP;
    at += 1;
  }
  return `${numberText(size)} ${BYTE_UNITS[at]}`;
}

function numberText(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < SMALLEST) return String(Number(value.toPrecision(2))).replace(".", ",");
  if (size < BILLION || size >= TRILLION) return formatNumber(value);
  return `${formatNumber(value / BILLION)} ${size < 2 * BILLION ? "bilhão" : "bilhões"}`;
}
