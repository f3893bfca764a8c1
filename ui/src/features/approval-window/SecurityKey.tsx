// A security key in the place of the passphrase. Its PIN is typed in this window and nowhere else, and kept no longer than it takes.
import { useCallback, useEffect, useState } from "react";
import type { Desk, SecurityKeys } from "~/host/desk";
import { Button } from "~/primitives/Button";
import { Select, TextField } from "~/primitives/Field";
import { Words } from "~/primitives/Words";
import card from "~/features/approvals/Card.module.css";

const LOOK_MS = 300;

/** The person's security key at a card: which one is plugged in, and its PIN. */
interface KeyInUse {
  /** Whether the card is answered with it. */
  readonly isOn: boolean;
  /** Whether there is one to answer with at all. */
  readonly isThere: boolean;
  readonly keys: SecurityKeys | null;
  readonly place: string | null;
  readonly pin: string;
  /** Why nothing can be signed with it yet. */
  readonly because: string | null;
  turn(on: boolean): void;
  look(): void;
  choose(place: string): void;
  type(pin: string): void;
}

/** `isOff` where no key may sign, as what lasts. */
export function useSecurityKey(desk: Desk, isOff: boolean): KeyInUse {
  const [keys, setKeys] = useState<SecurityKeys | null>(null);
  const [isTurned, setTurned] = useState(false);
  const [chosen, choose] = useState<string | null>(null);
  const [pin, type] = useState("");
  // Whoever turns to the passphrase leaves no PIN behind.
  const turn = (on: boolean) => { setTurned(on); type(""); };
  const look = useCallback(() => { desk.securityKeys().then(setKeys, () => setKeys(null)); }, [desk]);
  useEffect(look, [look]);
  const plugged = keys?.plugged_in ?? [];
  const place = plugged.length === 1 ? plugged[0]?.place ?? null : plugged.find((one) => one.place === chosen)?.place ?? null;
  const isThere = !isOff && keys?.is_enrolled === true;
  const because = plugged.length === 0 ? "Plug in your security key first" : place === null ? "Choose your security key first" : pin === "" ? "Type the PIN of your security key first" : null;
  return { isOn: isThere && isTurned, isThere, keys, place, pin, because, turn, look, choose, type };
}

/** Whether the key that is asked wants to be touched, for as long as one is asked. */
export function useTouch(desk: Desk, isAsked: boolean): boolean {
  const [wants, setWants] = useState(false);
  useEffect(() => {
    setWants(false);
    if (!isAsked) return;
    const timer = setInterval(() => { desk.keyWantsTouch().then(setWants, () => undefined); }, LOOK_MS);
    return () => clearInterval(timer);
  }, [desk, isAsked]);
  return wants;
}

/** What a person does before the key is asked: plugs it in, says which one, types its PIN. */
export function KeyFields({ of }: { of: KeyInUse }) {
  const plugged = of.keys?.plugged_in ?? [];
  if (plugged.length === 0) {
    return <p className={card.note} role="status">No security key is plugged in. <Button look="link" onClick={of.look}>Look again</Button></p>;
  }
  const only = plugged.length === 1 ? plugged[0] : undefined;
  return (
    <>
      {only !== undefined
        ? <p className={card.note}><Words of={only.name} /></p>
        : (
          <Select
            label="Security key" value={of.place ?? ""} onChange={(event) => of.choose(event.target.value)}
            options={[{ value: "", label: "Choose one" }, ...plugged.map((one) => ({ value: one.place, label: `${one.name} (${one.place})` }))]}
          />
        )}
      <TextField
        label="PIN of your security key" type="password" autoComplete="off" spellCheck={false} value={of.pin}
        onChange={(event) => of.type(event.target.value)} onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
    </>
  );
}
