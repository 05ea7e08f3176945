/** What can stand at the cursor, and a few words about it. */
export type Offer = { value: string; about: string };

/** What can stand at the cursor: one of these words, or a directory, which the shell itself finds. */
export type Offers = readonly Offer[] | "directories";

/** Words about which there is nothing to say. */
export function plainOffers(values: readonly string[]): Offer[] {
  return values.map((value) => ({ value, about: "" }));
}
