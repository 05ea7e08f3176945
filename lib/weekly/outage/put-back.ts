import type { Scope } from "../database/recipients.ts";
import type { AnalysisAnswer } from "../report/collect.ts";

/** The answers of an owner's connections that are not asked again, by connection id. */
export type RememberedAnswers = ReadonlyMap<string, AnalysisAnswer>;

/** An owner without a final report, to be taken once more; `code` is what the row has. */
export type PutBackOwner = {
  scope: Scope;
  reportId: string;
  code: string;
  answers: RememberedAnswers | null;
};

/** The owners of one run that were put back, in order. */
export type PutBackOwners = ReturnType<typeof createPutBackOwners>;

/** What a row keeps while its owner waits for a second chance. */
export const SOCIAL_RETRY = "social_retry";

/** How many owners' answers a run remembers. */
const REMEMBERED = 20;

/** An empty list. */
export function createPutBackOwners() {
  let owners: PutBackOwner[] = [];
  let remembered = 0;
  return {
    add(owner: PutBackOwner): void {
      owners.push(owner);
      if (owner.answers !== null) remembered += 1;
    },
    /** The next owner, who is no longer in the list. */
    take(): PutBackOwner | undefined {
      const owner = owners.shift();
      if (owner !== undefined && owner.answers !== null) remembered -= 1;
      return owner;
    },
    /** Takes these owners before all others. */
    prefer(isPreferred: (owner: PutBackOwner) => boolean): void {
      owners = [...owners.filter(isPreferred), ...owners.filter((owner) => !isPreferred(owner))];
    },
    mayRemember: (): boolean => remembered < REMEMBERED,
    count: (): number => owners.length,
  };
}
