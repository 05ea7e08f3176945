/** A variable with an unused secret, because a layer that comes first had another value; `source` names that layer. */
export type OverruledVariable = { name: string; source: string };

const noted = new Map<string, OverruledVariable>();
let notify: (variable: OverruledVariable) => void = () => {};

/** Calls `listener` once for each variable that is overruled, at once for those that are known already. */
export function onOverruledVariable(listener: (variable: OverruledVariable) => void): void {
  notify = listener;
  for (const variable of noted.values()) listener(variable);
}

/** Notes a variable that is set and not used. */
export function noteOverruled(variable: OverruledVariable): void {
  if (noted.has(variable.name)) return;
  noted.set(variable.name, variable);
  notify(variable);
}
