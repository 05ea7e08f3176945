/** Whether a text can be a uid of the platform: of a rule, a folder or a data source. */
export function isPlatformUid(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,40}$/.test(text);
}
