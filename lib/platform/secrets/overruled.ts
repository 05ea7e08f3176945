/** A variable with an unused secret, because a layer that comes first had another value; `source` names that layer. */
export type OverruledVariable = { name: string; source: string };

const noted = new Map<string, OverruledVariable>();
let tell: (variable: OverruledVariable) => void = () => {};

/** Tells `listener` of each variable that is overruled, once, those that are known already at once. */
export function onOverruledVariable(listener: (variable: OverruledVariable) => void): void {
  tell = listener;
  for (const variable of noted.values()) listener(variable);
}

/** Takes note of a variable that is set and not used. */
export function noteOverruled(variable: OverruledVariable): void {
  if (noted.has(variable.name)) return;
  noted.set(variable.name, variable);
  tell(variable);
}
