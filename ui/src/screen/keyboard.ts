import { type KeyboardEvent as ReactKey, useEffect, useRef } from "react";
import { PLACES, isTyping, openPalette } from "./commands";

const LEADER_MS = 900;

/** Whether a key belongs to letters that are being composed. WebKit tells the Enter that ends them by its code alone. */
export function isComposing(event: ReactKey): boolean {
  return event.nativeEvent.isComposing || event.nativeEvent.keyCode === 229;
}

/** The keys of the whole app. None of them decides anything. */
export function useKeyboard(go: (path: string) => void, help: () => void): void {
  const leader = useRef(0);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("[role=dialog]") !== null) return;
      if (event.timeStamp - leader.current < LEADER_MS && leader.current > 0) {
        leader.current = 0;
        const place = PLACES.find((one) => one.keys === `g ${event.key}`);
        if (place !== undefined) {
          event.preventDefault();
          go(place.path);
        }
        return;
      }
      if (event.key === "g") leader.current = event.timeStamp;
      if (event.key === "n") {
        event.preventDefault();
        go("/tasks/new");
      }
      if (event.key === "?") help();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [go, help]);
}

/** `j` and `k` in a list. */
export function useSteps<T>(rows: readonly T[], at: number, choose: (row: T) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const step = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
      if (step !== 0 && next !== undefined) {
        event.preventDefault();
        choose(next);
      }
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [rows, at, choose]);
}

/** One letter, where no field has the keys and nothing lies above the screen. */
export function useKey(letter: string, pressed: () => void): void {
  useEffect(() => {
    const heard = (event: KeyboardEvent) => {
      if (event.key !== letter || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("[role=dialog]") !== null) return;
      event.preventDefault();
      pressed();
    };
    document.addEventListener("keydown", heard);
    return () => document.removeEventListener("keydown", heard);
  }, [letter, pressed]);
}
