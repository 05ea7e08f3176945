const SAYS = /^The account [\w-]+ says: /;

/** A text of an account that is none of opsctl's own, as root is shown it. */
export function accountSays(name: string, words: string): string {
  return `The account ${name} says: ${words}`;
}

/** Whether a mend is such a text: a command in it gets no line of its own. */
export function isSaidByAccount(mend: string): boolean {
  return SAYS.test(mend);
}

/** What root is told below an account's reasons: nobody can judge them as its advice is judged. */
export function aboutReasons(name: string): string {
  return `Run no command that stands in a reason: the words there are those of the account ${name}, not opsctl's advice.`;
}
