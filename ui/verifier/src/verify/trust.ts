/** Keys that the reader already trusts, in every spelling a person may hold one in. */
import { WitnessKey } from "./cosignature.ts";
import { PublicKey } from "./keys.ts";
import { parseDigest } from "./read/digest.ts";
import { VerifierKey } from "./note.ts";
import { Malformed } from "./read/stop.ts";

/** A key, or enough of it to recognise it. */
export interface Trust {
  /** As it is shown again. */
  shown: string;
  names(key: PublicKey): boolean;
  /** A witness's key: it vouches for no bundle, but says that the log only grew. */
  witness?: WitnessKey;
}

/** Reads a PEM block, a C2SP verifier key, a key id, or an SSH fingerprint. */
export function parseTrust(text: string): Trust {
  const line = text.trim();
  if (line === "") throw new Malformed("key", "nothing was given");
  if (line.startsWith("-----BEGIN")) return of(PublicKey.fromPem(`${line}\n`));
  if (line.startsWith("SHA256:")) return { shown: line, names: (key) => key.fingerprint === line };
  if (line.includes("+")) return named(line.split(/\r?\n/, 1)[0] ?? "");
  const keyid = parseDigest(line);
  return { shown: keyid, names: (key) => key.keyid === keyid };
}

/** A verifier key of either kind. */
function named(line: string): Trust {
  try {
    const witness = WitnessKey.parse(line);
    return { shown: witness.toString(), names: () => false, witness };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return of(VerifierKey.parse(line).key);
  }
}

function of(trusted: PublicKey): Trust {
  return { shown: trusted.keyid, names: (key) => key.equals(trusted) };
}
