// The emergency stop: asked for in the frame, in the palette and, where the frame has no room for it, in the bar of every
// screen. It stops everything, so it is asked once what it does; the question stands where the halt is told afterwards.
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { useAct, useAsk } from "~/ipc/client";
import { Button } from "~/primitives/Button";
import { Mark } from "~/primitives/Icon";
import { Failed } from "~/primitives/States";
import { onHalt } from "~/screen/commands";
import { count } from "~/screen/words";
import styles from "./Layout.module.css";

/** Asks whether to halt, once somebody wants to. */
export function AskHalt() {
  const [isAsked, setAsked] = useState(false);
  const from = useRef<Element | null>(null);
  const status = useAsk("host.status", {});
  const halted = status.data?.halted === true;
  const close = useCallback(() => {
    setAsked(false);
    if (from.current instanceof HTMLElement) from.current.focus();
  }, []);
  useEffect(() => onHalt(() => { from.current = document.activeElement; setAsked(true); }), []);
  useEffect(() => { if (halted) setAsked(false); }, [halted]);
  return isAsked && !halted ? <Question running={status.data?.waiting.running ?? 0} close={close} /> : null;
}

function Question({ running, close }: { running: number; close: () => void }) {
  const halt = useAct("gate.halt");
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), []);
  const pressed = (event: KeyboardEvent) => { if (event.key === "Escape") close(); };
  return (
    <div className={styles.banner} role="alertdialog" aria-labelledby="halt-title" aria-describedby="halt-what" onKeyDown={pressed}>
      <Mark name="paused" />
      <strong id="halt-title">Stop all work?</strong>
      <span id="halt-what">
        {running === 0 ? "No task is running now. Until you resume work, nothing starts" : `${count(running, "task")} ${running === 1 ? "stops" : "stop"} at once. Until you resume work, nothing starts`}, also after a restart.
      </span>
      <Button look="danger" icon="stop" because={halt.isPending ? "Stopping" : null} onClick={() => halt.mutate({ reason: "halted from the window" })}>Halt</Button>
      <Button ref={cancel} onClick={close}>Cancel</Button>
      {halt.error !== null && <Failed error={halt.error} />}
    </div>
  );
}
