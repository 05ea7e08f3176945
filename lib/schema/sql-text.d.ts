/** SQL files are imported as text, so that the compiled binary carries them. */
declare module "*.sql" {
  const text: string;
  export default text;
}
