// A card that a person has only just been shown is not answered yet: the ticket for it comes first, and is armed a moment later.
import { type KeyboardEvent, useEffect, useState } from "react";
import { type Refused, refusal } from "~/host/host";

/** Typing for something else may be under way when a card appears: a line break is never a yes. */
export const deaf = (event: KeyboardEvent) => {
  if (event.key === "Enter") event.preventDefault();
};

/** A ticket for what is shown, once it is armed; asked for anew when what is shown is other. */
export function useTicket<T extends { arms_in: number }>(isOn: boolean, about: string, ask: () => Promise<T>): { ticket: T | null; isArmed: boolean; trouble: Refused | null } {
  const [ticket, setTicket] = useState<T | null>(null);
  const [isArmed, setArmed] = useState(false);
  const [trouble, setTrouble] = useState<Refused | null>(null);
  useEffect(() => {
    setTicket(null);
    setArmed(false);
    setTrouble(null);
    if (!isOn) return;
    let armed: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    ask().then(
      (given) => {
        if (isGone) return;
        setTicket(given);
        armed = setTimeout(() => setArmed(true), given.arms_in);
      },
      (thrown: unknown) => { if (!isGone) setTrouble(refusal(thrown)); },
    );
    return () => {
      isGone = true;
      clearTimeout(armed);
    };
    // What is asked for is told by `about`; the function is another at every drawing.
  }, [isOn, about]);
  return { ticket, isArmed, trouble };
}
