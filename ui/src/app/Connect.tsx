// What is seen while there is no host behind the window yet.
import { useEffect, useState } from "react";
import type { Host } from "~/host/host";
import { type Refused, refusal } from "~/host/host";
import { Button } from "~/primitives/Button";
import { Arcs } from "~/primitives/Shell";
import { sentence } from "~/primitives/States";
import { App } from "./App";
import styles from "./Connect.module.css";

interface Props {
  open: () => Promise<Host>;
  /** Where a passkey can sign this page in. */
  signIn?: (() => Promise<Host>) | undefined;
  /** Calls back when another tab has a session; how to stop comes back. */
  hear?: ((again: () => void) => () => void) | undefined;
}

export function Connect({ open, signIn, hear }: Props) {
  const [isGoing, setGoing] = useState(false);
  const [host, setHost] = useState<Host | null>(null);
  const [error, setError] = useState<Refused | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let here = true;
    setError(null);
    open().then((found) => here && setHost(found), (thrown) => here && setError(refusal(thrown)));
    return () => { here = false; };
  }, [open, tries]);
  const isOutside = error?.code === "unauthorised" && !isGoing;
  useEffect(() => (isOutside ? hear?.(() => setTries((before) => before + 1)) : undefined), [isOutside, hear]);
  const enter = () => {
    setGoing(true);
    signIn?.().then(setHost, (thrown: unknown) => setError(refusal(thrown))).finally(() => setGoing(false));
  };
  const mayEnter = signIn !== undefined && (error?.code === "unauthorised" || error?.code === "cancelled" || error?.code === "refused" || error?.code === "conflict");
  if (host !== null) return <App host={host} />;
  return (
    <main className={styles.door}>
      <Arcs size={144} person={error !== null} />
      {error === null ? (
        <p role="status">Opening the store</p>
      ) : (
        <>
          <h1>{sentence(error.message)}</h1>
          {error.hint !== "" && <p>{sentence(error.hint)}</p>}
          {mayEnter && <Button look="person" loose icon="key" because={isGoing ? "Use your passkey now" : null} onClick={enter}>Sign in with a passkey</Button>}
          <Button look={mayEnter ? "plain" : "person"} loose onClick={() => setTries(tries + 1)}>Try again</Button>
        </>
      )}
    </main>
  );
}
