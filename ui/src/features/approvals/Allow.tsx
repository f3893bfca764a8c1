// A yes in a browser: for the card as it is shown, once or for the like of it from now on. On a phone the answer stands at
// the thumb, below whatever part of the card is read.
import { useState } from "react";
import type { Pen } from "~/host/host";
import type { Approval } from "~/ipc/generated/approvals";
import { Button } from "~/primitives/Button";
import { usePhone } from "~/screen/phone";
import styles from "./Card.module.css";
import { Deny } from "./Deny";
import { OnceOrAlways } from "./OnceOrAlways";
import { useStandingGrant } from "./StandingGrant";
import { Yes } from "./Yes";

/** The decision of a card on a page of a host: how far, a no, or a yes with the passphrase or a passkey. */
export function Allow({ approval, pen }: { approval: Approval; pen: Pen }) {
  const isPhone = usePhone();
  const [isLasting, setLasting] = useState(false);
  const lasting = useStandingGrant(pen, approval.row, isLasting);
  const far = <section><OnceOrAlways approval={approval} lasting={isLasting} set={setLasting} /></section>;
  const yes = { approval, pen, isLasting, choice: lasting.choice };
  if (isPhone) {
    return (
      <>
        <footer className={styles.decide} data-lasting={isLasting || undefined}>{lasting.panel}{far}</footer>
        <AtThumb key={String(isLasting)} {...yes} />
      </>
    );
  }
  return (
    <footer className={styles.decide} data-lasting={isLasting || undefined}>
      {lasting.panel}
      {far}
      <Deny id={approval.row.approval_id} />
      <section>
        <h3>Your approval</h3>
        <Yes key={String(isLasting)} {...yes} />
      </section>
    </footer>
  );
}

/** What stays in reach while the card is read: a no, or a yes; one of them opened takes the place of both. */
function AtThumb(yes: { approval: Approval; pen: Pen; isLasting: boolean; choice: ReturnType<typeof useStandingGrant>["choice"] }) {
  const [open, setOpen] = useState<"no" | "yes" | null>(null);
  return (
    <div className={styles.thumb} role="group" aria-label="Your decision" data-open={open ?? undefined}>
      {open === "no" ? (
        <>
          <Deny id={yes.approval.row.approval_id} />
          <div><Button look="link" onClick={() => setOpen(null)}>Back</Button></div>
        </>
      ) : (
        <>
          {open === null && <Button data-deny loose onClick={() => setOpen("no")}>Deny</Button>}
          <div><Yes {...yes} isPhone begun={(is) => setOpen(is ? "yes" : null)} /></div>
        </>
      )}
    </div>
  );
}
