// A yes that is held: the ring closes while it is pressed, and is whole when it was meant. Enter does nothing here.
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./Hold.module.css";

/** Over what the host measures, so that its clock and this one agree. */
const OVER_MS = 60;

export function Hold({ ms, because, begin, end, held, children }: {
  /** How long. */
  ms: number;
  /** Why it cannot be held; it then stays reachable and says so. */
  because: string | null;
  /** It is pressed; what comes back is waited for before the ring begins. */
  begin: () => Promise<void>;
  /** It was let go too early. */
  end: () => void;
  held: () => void;
  children: ReactNode;
}) {
  const [closing, setClosing] = useState(false);
  const press = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const off = because !== null;

  const down = () => {
    if (off || closing) return;
    const mine = ++press.current;
    setClosing(true);
    begin().then(() => {
      if (press.current !== mine) return;
      timer.current = setTimeout(() => {
        if (press.current !== mine) return;
        press.current += 1;
        setClosing(false);
        held();
      }, ms + OVER_MS);
    }, () => up());
  };
  const up = () => {
    clearTimeout(timer.current);
    if (!closing) return;
    press.current += 1;
    setClosing(false);
    end();
  };
  // A window that loses the focus decides nothing.
  const away = useRef(up);
  away.current = up;
  useEffect(() => {
    const blurred = () => away.current();
    window.addEventListener("blur", blurred);
    return () => {
      window.removeEventListener("blur", blurred);
      clearTimeout(timer.current);
    };
  }, []);

  const pointer = (event: PointerEvent) => { if (event.button === 0) down(); };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter") event.preventDefault();
    if (event.key !== " ") return;
    event.preventDefault();
    if (!event.repeat) down();
  };
  const keyUp = (event: KeyboardEvent) => {
    if (event.key !== " ") return;
    event.preventDefault();
    up();
  };
  return (
    <button
      type="button" className={styles.hold} aria-disabled={off || undefined} title={because ?? undefined} data-closing={closing || undefined}
      onPointerDown={pointer} onPointerUp={up} onPointerLeave={up} onPointerCancel={up} onKeyDown={key} onKeyUp={keyUp} onBlur={up}
      onClick={(event) => event.preventDefault()} onContextMenu={(event) => event.preventDefault()}
    >
      <svg viewBox="0 0 24 24" width={20} height={20} aria-hidden="true">
        <circle cx="12" cy="12" r="9" className={styles.track} />
        <circle cx="12" cy="12" r="9" className={styles.ring} pathLength={1} style={{ transitionDuration: closing ? `${ms}ms` : "90ms" }} />
      </svg>
      {children}
    </button>
  );
}
