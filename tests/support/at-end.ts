const works: (() => void)[] = [];

/** Has `work` done when all tests of this process are over; Bun's test runner emits no `exit` that could be used. */
export function atEnd(work: () => void): void {
  works.push(work);
}

/** Does what was asked for with `atEnd`; for the preload alone. */
export function runAtEnd(): void {
  for (const work of works.splice(0)) work();
}
