// What only a person says of this machine in the mesh: outright in the app and on a page that a terminal opened, on another page of
// the host with the approval passphrase, which is kept nowhere.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type OfMesh, type Refused, refusal } from "~/host/host";
import { useHost, useKeys } from "~/ipc/client";
import type { Commands } from "~/ipc/generated/commands";
import { TextField } from "~/primitives/Field";

/** How a command that a person gives is given here. */
export interface BySaying<N extends OfMesh> {
  give: (params: Commands[N]["params"], done?: (answer: Commands[N]["answer"]) => void) => void;
  answer: Commands[N]["answer"] | undefined;
  error: Refused | null;
  isPending: boolean;
  /** Why it cannot be given yet: the passphrase is missing. */
  missing: string | null;
  /** The field of the passphrase, where one is needed. */
  field: ReactNode;
}

/** `always`: the approval key signs it, so that the passphrase is needed on every page of a host. */
export function useSaying<N extends OfMesh>(name: N, { always = false, taken }: { always?: boolean; taken?: (answer: Commands[N]["answer"]) => void } = {}): BySaying<N> {
  const host = useHost();
  const client = useQueryClient();
  const keys = useKeys();
  const [passphrase, setPassphrase] = useState("");
  const { person } = host;
  const isNeeded = person !== undefined && (always || keys.data?.at_terminal === false);
  const act = useMutation<Commands[N]["answer"], Refused, { params: Commands[N]["params"]; passphrase: string }>({
    mutationFn: async (given) => {
      try {
        return await (person !== undefined && isNeeded ? person.mesh(name, given.params, given.passphrase) : host.call(name, given.params));
      } catch (thrown) {
        throw refusal(thrown);
      }
    },
    ...(taken === undefined ? {} : { onSuccess: taken }),
    onSettled: () => client.invalidateQueries(),
  });
  const give: BySaying<N>["give"] = (params, done) => {
    const given = passphrase;
    setPassphrase("");
    act.mutate({ params, passphrase: given }, { onSuccess: (answer) => done?.(answer) });
  };
  const field = isNeeded ? <TextField label="Approval passphrase" type="password" value={passphrase} autoComplete="off" hint="Of this machine. It opens the approval key for this alone." onChange={(event) => setPassphrase(event.target.value)} /> : null;
  return { give, answer: act.data, error: act.error, isPending: act.isPending, missing: isNeeded && passphrase === "" ? "Type the passphrase first" : null, field };
}
