// A page that no person opened from a terminal lets nothing run by itself again, unless it brings the approval passphrase.
import { WithPassphrase } from "./WithPassphrase";
import type { Refused } from "~/host/host";
import { useHost } from "~/ipc/client";

/** Beside a resuming that this page was refused: asks for the passphrase, where a page of this host can. */
export function ResumeWithPassphrase({ of, name, refused, done }: { of: "schedule" | "gateway"; name: string; refused: Refused | null; done: () => void }) {
  const { person } = useHost();
  if (refused?.code !== "forbidden" || person === undefined) return null;
  const say = (passphrase: string) => person.resume({ of, name }, passphrase).then(done);
  return <WithPassphrase what={`Resume ${name}`} say={say} />;
}
