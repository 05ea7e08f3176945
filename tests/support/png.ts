/** PNG pictures, as far as screenshots need: read as colours, written with a palette, which makes them small. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

/** A picture without transparency. `colours` has a number 0xRRGGBB for each pixel, row by row. */
export type Picture = { width: number; height: number; colours: Uint32Array };

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Enough for flat grounds and the edges of letters; more of them nearly double the file. */
const PALETTE_SIZE = 36;

type Header = { width: number; height: number; samples: number; palette: Buffer | null };

/** Reads a PNG of eight bits a sample, not interlaced: true colour with or without alpha, or with a palette. */
export function decodePng(file: Buffer): Picture {
  const chunks = chunksOf(file);
  const of = (type: string) => chunks.filter((chunk) => chunk.type === type).map(({ data }) => data);
  const header = headerOf(of("IHDR")[0]!, of("PLTE")[0] ?? null);
  const { width, height } = header;
  const rows = unfiltered(inflateSync(Buffer.concat(of("IDAT"))), header);
  const colours = new Uint32Array(width * height);
  for (let pixel = 0; pixel < colours.length; pixel += 1) colours[pixel] = colourAt(rows, pixel, header);
  return { width, height, colours };
}

function headerOf(data: Buffer, palette: Buffer | null): Header {
  const samples = { 2: 3, 3: 1, 6: 4 }[data[9]!];
  if (samples === undefined || data[8] !== 8 || data[12] !== 0)
    throw new Error("a kind of PNG that is not read here");
  return { width: data.readUInt32BE(0), height: data.readUInt32BE(4), samples, palette };
}

function chunksOf(file: Buffer): { type: string; data: Buffer }[] {
  const chunks = [];
  for (let at = SIGNATURE.length; at < file.length; ) {
    const length = file.readUInt32BE(at);
    chunks.push({
      type: file.toString("latin1", at + 4, at + 8),
      data: file.subarray(at + 8, at + 8 + length),
    });
    at += 12 + length;
  }
  return chunks;
}

/** Undoes the filter of each row, which stands before it. */
function unfiltered(data: Buffer, { width, height, samples }: Header): Uint8Array {
  const stride = width * samples;
  const rows = new Uint8Array(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = data[y * (stride + 1)]!;
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < samples ? 0 : rows[at - samples]!;
      const above = y === 0 ? 0 : rows[at - stride]!;
      const corner = x < samples || y === 0 ? 0 : rows[at - stride - samples]!;
      rows[at] = data[y * (stride + 1) + 1 + x]! + predicted(filter, left, above, corner);
    }
  }
  return rows;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

function colourAt(rows: Uint8Array, pixel: number, { samples, palette }: Header): number {
  const [bytes, at] = palette === null ? [rows, pixel * samples] : [palette, rows[pixel]! * 3];
  return (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
}

/** Writes a picture with a palette of its most frequent colours; any other becomes the nearest of them. */
export function encodePng({ width, height, colours }: Picture): Buffer {
  const palette = frequentColours(colours);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc((width + 1) * height);
  colours.forEach((colour, pixel) => {
    let place = places.get(colour);
    if (place === undefined) {
      place = nearest(palette, colour);
      places.set(colour, place);
    }
    rows[Math.floor(pixel / width) * (width + 1) + 1 + (pixel % width)] = place;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  const entries = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", entries),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function frequentColours(colours: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const ordered = [...counts].toSorted((a, b) => b[1] - a[1] || a[0] - b[0]);
  return ordered.slice(0, PALETTE_SIZE).map(([colour]) => colour);
}

function nearest(palette: readonly number[], colour: number): number {
  const distances = palette.map((other) => colourDistance(other, colour));
  return distances.indexOf(Math.min(...distances));
}

/** The largest difference of two colours in red, green or blue, 0 to 255. */
function colourDistance(a: number, b: number): number {
  const part = (shift: number) => Math.abs(((a >> shift) & 255) - ((b >> shift) & 255));
  return Math.max(part(16), part(8), part(0));
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}
