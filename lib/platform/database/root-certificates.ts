import { readRegularFile } from "../files/regular-file.ts";

/** The word with which a URL asks for the certificates that the host itself trusts. */
const HOSTS_OWN = "system";

/**
 * The certificates that a database's URL names to be trusted, each as PEM; undefined for those built into the runtime.
 *
 * Shape:     `system`, as in libpq, is the host's own store; any other text is the path of a file with one or more.
 * Behaviour: nothing else is trusted then. Each certificate is parsed here: Deno waits for ever on a connection with a
 *            broken one.
 * Errors:    an `Error` about `sslrootcert`: its code is ROOT_CERTIFICATES_MISSING when there is none,
 *            ROOT_CERTIFICATES_INVALID for a broken one and for what is not a file, or the file system's.
 */
export async function rootCertificates(name: string | undefined): Promise<string[] | undefined> {
  if (name === undefined) return undefined;
  const certificates = name === HOSTS_OWN ? await hostsOwn() : await certificatesOf(name);
  // An empty list would trust what the runtime trusts.
  if (certificates.length === 0) throw failure("ROOT_CERTIFICATES_MISSING");
  return certificates;
}

async function hostsOwn(): Promise<string[]> {
  const { getCACertificates } = await import("node:tls");
  return getCACertificates("system");
}

async function certificatesOf(path: string): Promise<string[]> {
  const { X509Certificate } = await import("node:crypto");
  const blocks = textOf(path).match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch {
    throw failure("ROOT_CERTIFICATES_INVALID");
  }
  return blocks;
}

function textOf(path: string): string {
  try {
    return new TextDecoder().decode(readRegularFile(path, { followLinks: true }));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw failure(["ENOTFILE", "EFBIG"].includes(code) ? "ROOT_CERTIFICATES_INVALID" : code);
  }
}

function failure(code: string): Error {
  return Object.assign(new Error("the certificates to trust cannot be used"), { code, about: "sslrootcert" });
}
