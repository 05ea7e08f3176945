/** Perl programs with which the service account says what it likes to a process of root that reads from it. */

/** More than opsctl reads of a flood and a pipe or socket holds, and far less than the whole flood. */
export const FLOOD_TAKEN = 64 * 1_048_576;

/**
 * A Perl program that writes 256 MiB to `output`, and into the file `witness` how many bytes were accepted.
 *
 * Behaviour: `output` is an open handle; the flood has no line end. The program ends with 1.
 */
export function floodPerl(witness: string, output = "STDOUT"): string {
  return `$SIG{PIPE} = "IGNORE"; my ($written, $piece) = (0, "x" x 65536);
while ($written < 256 * 1048576) { my $count = syswrite(${output}, $piece); last if !defined $count; $written += $count; }
open(my $note, ">", "${witness}.new"); print $note $written; close $note; rename "${witness}.new", "${witness}"; exit 1;
`;
}

/** A Perl program that takes its parent's standard output (\`pidfd_getfd\`), and floods it. */
export function parentFloodPerl(witness: string): string {
  return `${TAKE_PARENTS_OUTPUT}${floodPerl(witness, "$output")}`;
}

/** A Perl program that takes it in the same way, and writes these lines there in its parent's stead. */
export function parentLinesPerl(lines: readonly string[]): string {
  const texts = lines.map((line) => `q\x01${line}\n\x01`);
  return `${TAKE_PARENTS_OUTPUT}syswrite($output, join("", ${texts.join(", ")}));\n`;
}

const TAKE_PARENTS_OUTPUT = `use Fcntl; my $parent = syscall(434, getppid(), 0); my $fd = syscall(438, $parent, 1, 0);
exit 0 if $fd < 0; open(my $output, ">&=", $fd) or die; fcntl($output, F_SETFL, O_WRONLY);
`;
