/**
 * `Temporal`: the runtime's own where there is one, else the polyfill.
 *
 * Import it under this name wherever instants or dates are made: as a type it is the standard's namespace. The polyfill
 * is loaded only where it is needed, because its import takes as long as a whole start.
 */
export const Temporal: typeof globalThis.Temporal = globalThis.Temporal ?? (await loadPolyfill());

async function loadPolyfill(): Promise<typeof globalThis.Temporal> {
  const polyfill: { Temporal: unknown } = await import("@js-temporal/polyfill");
  return polyfill.Temporal as typeof globalThis.Temporal;
}
