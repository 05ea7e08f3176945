/** The alerts that a text names. */
export function namesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/alerta-\d+-\d+/g)].map(([name]) => name));
}

/** How many of these messages name each alert. */
export function timesSent(messages: readonly { text?: string | undefined }[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const { text = "" } of messages)
    for (const name of namesIn(text)) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}
