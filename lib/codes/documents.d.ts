/** Documents are imported as text, so that the compiled binary carries them. */
declare module "*.md" {
  const text: string;
  export default text;
}
