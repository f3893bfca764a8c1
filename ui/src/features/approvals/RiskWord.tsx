// The second word of a yes: at high and critical risk a person types how grave it is.
import type { KeyboardEventHandler } from "react";
import { TextField } from "~/primitives/Field";
import { capital } from "~/screen/words";

/** A critical act, and whatever lasts, is allowed by a hand that stays. */
export const HOLD_MS = 1200;

/** Why a yes is not said yet: its word is not typed. */
export const lacks = (needed: string | null, typed: string) => (needed !== null && typed.trim() !== needed ? `Type ${needed} first` : null);

/** The field of the word, where one is needed. */
export function RiskWord({ needed, value, onChange, onKeyDown }: { needed: string | null; value: string; onChange: (word: string) => void; onKeyDown?: KeyboardEventHandler<HTMLInputElement> }) {
  if (needed === null) return null;
  return <TextField label={`${capital(needed)} risk. Type ${needed} to confirm`} value={value} autoComplete="off" autoCapitalize="none" spellCheck={false} {...(onKeyDown === undefined ? {} : { onKeyDown })} onChange={(event) => onChange(event.target.value)} />;
}
