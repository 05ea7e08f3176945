/** A process of the account that tries to get at what another process of it holds. */
import process from "node:process";
import { ACCOUNT } from "../../support/account-host.ts";

/** Without a capability and in no terminal, as a program that was broken into. */
const AS_ACCOUNT = [
  ...["setpriv", `--reuid=${ACCOUNT.uid}`, `--regid=${ACCOUNT.gid}`, "--clear-groups", "--pdeathsig=KILL"],
];
const [PTRACE, READV] = process.arch === "arm64" ? [117, 270] : [101, 310];

/**
 * Tries every way that the kernel has, again and again from the moment a child of `parent` is there, and writes down
 * each that was open once; a shell that became the account counts, too.
 */
const SPY = `use strict; my ($parent, $uid, $ptrace, $readv) = @ARGV; my %open; $| = 1;
  print "ready\\n";
  sub is_read { my ($path) = @_; open(my $file, "<", $path) or return 0; return sysread($file, my $byte, 1); }
  # The folder belongs to root once nobody may read the memory: the kernel says here who it runs as.
  sub is_of_account { my ($pid) = @_; open(my $status, "<", "/proc/$pid/status") or return 0;
    return grep { /^Uid:\\t$uid\\t/ } <$status>; }
  # Of a process that has ended, the kernel opens it as an empty file.
  sub is_memory { my ($pid) = @_; open(my $file, "+<", "/proc/$pid/mem") or return 0;
    sysseek($file, 4096, 0); return !defined(sysread($file, my $byte, 1)); }
  while (kill(0, $parent) || $!{EPERM}) {
    open(my $list, "<", "/proc/$parent/task/$parent/children") or last;
    for my $pid (split(" ", <$list> // "")) {
      next unless is_of_account($pid);
      # It only asks whether the account may read the sources; of a process that has ended there is no command line.
      open(my $line, "<", "/proc/$pid/cmdline") or next;
      my $words = <$line> // "";
      next if $words eq "" || $words =~ m{/test\\0-r\\0};
      $open{$_} ||= is_read("/proc/$pid/$_") for qw(environ auxv maps);
      $open{mem} ||= is_memory($pid);
      for my $link (qw(fd/0 cwd exe root)) { $open{$link} = 1 if defined(readlink("/proc/$pid/$link")); }
      $open{input} ||= open(my $input, "<", "/proc/$pid/fd/0") ? 1 : 0;
      my $byte = "x" x 8;
      my $local = pack("J2", unpack("J", pack("P", $byte)), 8);
      my $remote = pack("J2", 4096, 8);
      $open{vm} = 1 if syscall($readv, $pid + 0, $local, 1, $remote, 1, 0) >= 0 || $!{EFAULT};
      my $handle = syscall(434, $pid + 0, 0);
      if ($handle >= 0) {
        $open{getfd} = 1 if syscall(438, $handle, 0, 0) >= 0;
        POSIX::close($handle);
      }
      # By a process that ends at once, which lets go again.
      my $tracer = fork();
      POSIX::_exit(syscall($ptrace, 0x4206, $pid + 0, 0, 0) == 0 ? 0 : 1) if defined($tracer) && $tracer == 0;
      $open{ptrace} = 1 if defined($tracer) && waitpid($tracer, 0) == $tracer && $? == 0;
      print "seen\\n" unless $open{seen}++;
    }
  }
  print join(" ", grep { $open{$_} } sort keys %open), "\\n";`;

/**
 * Watches the children of a process, until that ends. `seen` ends once there is one of the account that has been tried;
 * `opened` is every way that was open at some moment.
 */
export type Spy = {
  ready: Promise<void>;
  seen: Promise<void>;
  opened: Promise<string[]>;
  [Symbol.dispose](): void;
};

/** Starts it. */
export function startSpy(parent: number): Spy {
  const words = [...AS_ACCOUNT, "perl", "-MPOSIX", "-MErrno", "-e", SPY];
  const spy = Bun.spawn([...words, `${parent}`, `${ACCOUNT.uid}`, `${PTRACE}`, `${READV}`]);
  const [ready, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const read = async () => {
    let text = "";
    for await (const part of spy.stdout.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.includes("ready\n")) ready.resolve();
      if (text.includes("seen\n")) seen.resolve();
    }
    const [, ...words] = text.split(/\s+/).filter(Boolean);
    return [...new Set(words)].toSorted();
  };
  return {
    ready: ready.promise,
    seen: seen.promise,
    opened: read(),
    [Symbol.dispose]: () => spy.kill("SIGKILL"),
  };
}
