// What the page says of the chain of an instance.
import type { Finding, TrustLink } from "~/ipc/generated/identity";
import type { TrustFinding } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { capital, plain } from "~/screen/words";

/** The longest SOUL.md, in bytes, as the host takes it. */
export const SOUL_BYTES_MAX = 64 * 1024;
/** Letters of the name that a text begins with. */
const NAME_MAX = 120;

/** How many bytes a text has as the host keeps it. */
export function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Who a SOUL.md says that this instance is: its first line that holds anything, without marks of a heading. */
export function nameIn(soul: string): string | null {
  for (const line of soul.split("\n", 200)) {
    const bare = line.replace(/^[\s#>*_-]+/, "").replace(/[\s#*_]+$/, "");
    if (bare !== "") return bare.length > NAME_MAX ? `${bare.slice(0, NAME_MAX)}…` : bare;
  }
  return null;
}

const FOUND: Readonly<Record<TrustFinding, string>> = {
  bad_signature: "A signature does not hold",
  gap: "The link before it is missing",
  fork: "Two links follow the same one",
  second_genesis: "There is a second beginning",
  revoked_key: "It is signed by a key that had been replaced or revoked",
  unknown_key: "It is signed by a key that no other key named",
  other_instance: "It belongs to another instance",
  out_of_order: "Its version or time does not follow that of the one before it",
  no_log_key: "The key of this instance and the key of its log have not signed each other",
  malformed: "It is no link that can be read",
};

/** What is wrong, in words of this page; the host's own stand beside it. */
export function foundName(found: Finding): string {
  return lookUp(FOUND, found.what, capital(plain(found.what)));
}

/** What a link says. */
export function linkName(link: TrustLink): string {
  if (link.kind === "attestation") return link.version === null ? "SOUL.md attested" : `Version ${link.version} of SOUL.md attested`;
  if (link.kind === "handover") return link.reason === "successor" ? "A successor's key took over" : "A new key took over";
  if (link.kind === "revocation") return "A key was revoked";
  return capital(plain(link.kind));
}

/** The same for whoever wants to know more. */
export function linkMeaning(link: TrustLink): string {
  if (link.kind === "handover") return link.reason === "successor" ? "A successor was adopted. The old key and the new one both signed it." : "The keys were rotated. The old key and the new one both signed it.";
  if (link.kind === "revocation") return "The key that signed it says that another key of this instance is not to be believed.";
  return "The key of this instance signed that SOUL.md is this text.";
}
