import type { RememberedAnswers } from "../outage/put-back.ts";
import type { ThrottledCall } from "../outage/throttle.ts";

/** Why a report cannot be finished; its row keeps the code. */
export class ReportFailure extends Error {
  readonly code: string;

  constructor(code: string, cause?: unknown) {
    super(code, { cause });
    this.code = code;
  }
}

/** Why a report is not made yet: its owner is taken once more, and these answers stand; a throttled one waits first. */
export class PutBack extends Error {
  readonly code: string;
  readonly answers: RememberedAnswers | null;
  readonly throttled: ThrottledCall | null;

  constructor(
    code: string,
    answers: RememberedAnswers | null,
    { throttled = null }: { throttled?: ThrottledCall | null } = {},
  ) {
    super(code);
    this.code = code;
    this.answers = answers;
    this.throttled = throttled;
  }
}
