// What only a person says of this machine: in the app, or on a page that a terminal opened. Another page names the command.
import { useHost, useKeys } from "~/ipc/client";
import type { Refused } from "~/host/host";
import { Copyable } from "~/primitives/Copyable";
import { Failed } from "~/primitives/States";
import styles from "./Mesh.module.css";

/** Whether this page may change what this machine is in the mesh; true until the host has said otherwise. */
export function useMayChange(): boolean {
  const host = useHost();
  const keys = useKeys();
  return host.keys === undefined || keys.data === undefined || keys.data.at_terminal;
}

/** Says why this page cannot do it, and what does. */
export function AtTerminal({ what, command }: { what: string; command: string }) {
  return (
    <div className={styles.how}>
      <p>This page was not opened from a terminal of this machine, so it cannot {what}. Open one with <code>hermit open</code>, or run there:</p>
      <Copyable text={command} />
    </div>
  );
}

/** A refusal of such an act: with the command, where it was because of the page. */
export function NotDone({ error, what, command }: { error: Refused | null; what: string; command: string }) {
  if (error === null) return null;
  return error.code === "forbidden" ? <AtTerminal what={what} command={command} /> : <Failed error={error} />;
}
