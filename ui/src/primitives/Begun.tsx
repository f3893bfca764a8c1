// A form of settings that may be changed elsewhere while somebody fills it in: what they typed stays, and the page says so.
import { Fragment, type MouseEvent, type ReactNode, useState } from "react";
import { Button } from "./Button";
import { Said } from "./States";

/** Gives its child the settings to begin with. Newer ones take their place when nothing typed is lost by it: before anything was
    changed here, once it was saved, or when a person asks for them. `by`: what of them the form shows. */
export function Begun<T extends object>({ of, by, children }: { of: T; by: (of: T) => unknown; children: (base: T, saved: () => void) => ReactNode }) {
  const [base, setBase] = useState<T>(of);
  const [isTouched, setTouched] = useState(false);
  const shown = JSON.stringify(by(base));
  const isOld = shown !== JSON.stringify(by(of));
  if (isOld && !isTouched) setBase(of);
  const clicked = (event: MouseEvent) => { if (event.target instanceof Element && event.target.closest("button") !== null) setTouched(true); };
  return (
    <>
      {isOld && isTouched && (
        <Said tone="note">
          These settings were changed elsewhere meanwhile. What you typed is still here. <Button look="link" onClick={() => setTouched(false)}>Show the new settings instead</Button>
        </Said>
      )}
      <div style={{ display: "contents" }} onChange={() => setTouched(true)} onClick={clicked}>
        <Fragment key={shown}>{children(base, () => setTouched(false))}</Fragment>
      </div>
    </>
  );
}
