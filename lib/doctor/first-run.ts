/**
 * What mends that no run has ended in full success yet.
 *
 * Behaviour: no fault of a new host, and nothing but a Monday mends it: every other step comes before it.
 */
export const FIRST_RUN =
  "The run of a Monday makes it; opsctl weekly --dry-run proves on any day what that run needs";
