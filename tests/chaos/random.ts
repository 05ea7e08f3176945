/** Numbers that look random and are the same for the same seed. */
export type Random = { below(n: number): number };

/** The generator `mulberry32`. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return {
    below(n) {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * n);
    },
  };
}
