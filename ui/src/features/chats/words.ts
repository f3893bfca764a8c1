// Words of gateways: what a sender may do.
import type { SenderProfile } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { capital } from "~/screen/words";

const MAY: Readonly<Record<SenderProfile, string>> = { goals: "May give goals", ask: "May only ask" };

/** What a paired sender may do. */
export function may(profile: SenderProfile): string {
  return lookUp(MAY, profile, capital(profile));
}
