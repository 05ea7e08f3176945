/** How much two pictures differ for the eye. */
import type { Picture } from "./png.ts";

/** Edges of letters differ between builds of a browser; the average of so many pixels each way hardly does. */
const BLOCK = 4;

/** Averages that are further apart than this, of 255, are seen as another colour. */
const SEEN = 40;

/** The share of small blocks whose colours differ; 1 for pictures of different sizes. */
export function pictureDifference(a: Picture, b: Picture): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  const [averages, others] = [blockAverages(a), blockAverages(b)];
  let different = 0;
  for (let at = 0; at < averages.length; at += 3)
    if ([0, 1, 2].some((part) => Math.abs(averages[at + part]! - others[at + part]!) > SEEN)) different += 1;
  return different / (averages.length / 3);
}

/** Red, green and blue of each block, row by row. */
function blockAverages({ width, height, colours }: Picture): Float64Array {
  const across = Math.ceil(width / BLOCK);
  const sums = new Float64Array(across * Math.ceil(height / BLOCK) * 3);
  const counts = new Uint8Array(sums.length / 3);
  for (let pixel = 0; pixel < colours.length; pixel += 1) {
    const colour = colours[pixel]!;
    const row = Math.floor(Math.floor(pixel / width) / BLOCK);
    const block = row * across + Math.floor((pixel % width) / BLOCK);
    counts[block]! += 1;
    sums[3 * block]! += colour >> 16;
    sums[3 * block + 1]! += (colour >> 8) & 255;
    sums[3 * block + 2]! += colour & 255;
  }
  return sums.map((sum, at) => sum / counts[Math.floor(at / 3)]!);
}
