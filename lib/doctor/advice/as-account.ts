/**
 * A line that changes files, as the account itself runs it: in directories that it owns, it could put a link between the
 * advice and the moment in which root follows it.
 *
 * Behaviour: an account gives away no file and takes none over: what belongs to another is moved away instead. `--pty` gives
 *            each command a terminal of its own, because into root's terminal the account could type.
 */
export function lineAsAccount(line: string, account: string): string {
  const commands = line.split(" && ").map((command) => commandAsAccount(command, account));
  return commands.map((command) => `runuser --pty -u ${account} -- ${command}`).join(" && ");
}

function commandAsAccount(command: string, account: string): string {
  if (command.startsWith("install "))
    return command.replaceAll(` -o ${account}`, "").replaceAll(` -g ${account}`, "");
  const [, path] = /^chown -h \S+ (\S+)$/.exec(command) ?? [];
  return path === undefined ? command : `mv -nT ${path} ${path}.old`;
}
