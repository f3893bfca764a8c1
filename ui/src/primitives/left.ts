// Time that is left: for a code, or anything else that counts for so long and no longer.
import { useEffect, useState } from "react";

/** Seconds that are left until a time, 0 when it is past; null without one. */
export function useLeft(until: number | null): number | null {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until === null) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return until === null ? null : Math.max(0, Math.ceil((until - now) / 1_000));
}

/** `9:59`. */
export function leftClock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
