/** An account that writes without end into what root reads of it. */

/** More than what is read of a flood and what waits in a pipe or a socket, and far less than the whole. */
export const FLOOD_TAKEN = 32 * 1_048_576;

/**
 * A Perl program that writes 96 MiB to `output`, and how much of it was taken into a file.
 *
 * Shape: `output` is an open handle; what is written makes no line. It ends with 1.
 */
export function floodPerl(witness: string, output = "STDOUT"): string {
  return `$SIG{PIPE} = "IGNORE"; my ($written, $piece) = (0, "x" x 65536);
while ($written < 96 * 1048576) { my $count = syswrite(${output}, $piece); last if !defined $count; $written += $count; }
open(my $note, ">", "${witness}.new"); print $note $written; close $note; rename "${witness}.new", "${witness}"; exit 1;
`;
}

/** A Perl program that takes over the standard output of the process that started it (\`pidfd_getfd\`), and floods it. */
export function parentFloodPerl(witness: string): string {
  return `use Fcntl; my $parent = syscall(434, getppid(), 0); my $fd = syscall(438, $parent, 1, 0);
exit 0 if $fd < 0; open(my $output, ">&=", $fd) or die; fcntl($output, F_SETFL, O_WRONLY);
${floodPerl(witness, "$output")}`;
}
