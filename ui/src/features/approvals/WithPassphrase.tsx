// What only a person says and no card asks: with the approval passphrase, which is kept nowhere.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Refused, refusal } from "~/host/host";
import { Button } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Failed } from "~/primitives/States";

export function WithPassphrase({ what, because = null, say }: { what: string; because?: string | null; say: (passphrase: string) => Promise<void> }) {
  const client = useQueryClient();
  const [passphrase, setPassphrase] = useState("");
  const saying = useMutation<void, Refused, string>({
    mutationFn: (given) => say(given).catch((thrown: unknown) => { throw refusal(thrown); }),
    onSettled: () => client.invalidateQueries(),
  });
  const missing = because ?? (passphrase === "" ? "Type the passphrase first" : saying.isPending ? "It is being signed" : null);
  const go = () => {
    const given = passphrase;
    setPassphrase("");
    saying.mutate(given);
  };
  return (
    <div>
      <TextField label="Approval passphrase" type="password" value={passphrase} autoComplete="off" onChange={(event) => setPassphrase(event.target.value)} />
      <Button because={missing} onClick={go}>{what}</Button>
      {saying.error !== null && <Failed error={saying.error} />}
    </div>
  );
}
