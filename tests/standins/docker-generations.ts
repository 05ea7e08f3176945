/**
 * What the generations of engines answer differently, read in their sources.
 *
 * Source: moby/moby at the tags 20.10.27, 23.0.7, 23.0.8, 24.0.9, 25.0.0, 26.1.5, 28.5.2 and 29.0.0 (daemon/stats.go,
 *         daemon/container.go, api/common.go); containers/podman 4.0 and 6.0
 *         (pkg/api/handlers/compat, libpod/stats_common.go, libpod/sqlite_state.go), read 2026-11-22. Docker 26.1.5 and
 *         Podman 5.4.2 were also asked.
 */

/** A kind of engine: its version of the API, and where its answers differ from those of others. */
export type Generation = {
  newest: string;
  /** Whether a single sample names its container: `/name` and the id, the name without its slash, or not at all. */
  sampleNames: "slashed" | "plain" | "none";
  /** The status for the beginning of several ids. */
  ambiguousPrefix: number;
  /** What the statistics of a container are that does not run: zeros with its name, an error after a 200, or a 409. */
  stopped: "named" | "late error" | "conflict";
  /** How the beginning of an id is compared: as it is, or as SQL's LIKE does. */
  prefixes: "exact" | "like";
};

const docker = {
  sampleNames: "none",
  ambiguousPrefix: 400,
  stopped: "named",
  prefixes: "exact",
} as const;

const podman = {
  sampleNames: "plain",
  ambiguousPrefix: 404,
  prefixes: "like",
} as const;

/** The generations, oldest first. */
export const GENERATIONS = {
  "Docker 20.10": { ...docker, newest: "1.41", sampleNames: "slashed", ambiguousPrefix: 500 },
  "Docker 23.0.7": {
    ...docker,
    newest: "1.42",
    sampleNames: "slashed",
    ambiguousPrefix: 500,
  },
  "Docker 23.0.8": { ...docker, newest: "1.42", ambiguousPrefix: 500 },
  "Docker 24.0.7": { ...docker, newest: "1.43" },
  "Docker 25.0": { ...docker, newest: "1.44" },
  "Docker 26.1.5": { ...docker, newest: "1.45" },
  "Docker 28.5.2": { ...docker, newest: "1.51" },
  "Docker 29.0": { ...docker, newest: "1.52", sampleNames: "slashed" },
  "Podman 4.0": { ...podman, newest: "1.40", stopped: "conflict" },
  "Podman 5.4": { ...podman, newest: "1.41", stopped: "late error" },
} as const satisfies Record<string, Generation>;

/** The name of a generation. */
export type GenerationName = keyof typeof GENERATIONS;

/** Every generation, for `test.each`. */
export const GENERATION_NAMES = Object.keys(GENERATIONS) as GenerationName[];
