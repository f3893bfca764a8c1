// The log-in at a server that is reached by an address: asked for here, approved on a card, made in a browser. The page sees
// no token.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { said } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { LoginAt, Server } from "~/ipc/generated/tools";
import type { LoginState } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { TextField } from "~/primitives/Field";
import { Answer, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Tools.module.css";

/** How often it is asked whether a person came back from their browser. */
const TICK_MS = 1_000;

const LOOK: Readonly<Record<LoginState, { tone: "done" | "waiting" | "failed"; mark: "done" | "waiting" | "deny"; says: string }>> = {
  logged_in: { tone: "done", mark: "done", says: "Logged in" },
  allowed: { tone: "waiting", mark: "waiting", says: "You approved it; go on in your browser" },
  waiting: { tone: "waiting", mark: "waiting", says: "Waiting for your browser" },
  refused: { tone: "failed", mark: "deny", says: "Log in again" },
  logged_out: { tone: "failed", mark: "deny", says: "Not logged in" },
};

/** Of a server that nobody logs in at, only a button. */
export function Login({ server }: { server: Server }) {
  const asked = useAsk("tools.logins", {}, { refetchInterval: (query) => query.state.data?.logins.some((one) => one.state === "waiting") === true ? TICK_MS : false });
  return (
    <section aria-label="Log-in" className={styles.login}>
      <h3>Log-in</h3>
      <Answer asked={asked} what="the log-in" lines={2}>
        {(found) => <One server={server.server} at={found.logins.find((one) => one.server === server.server)} />}
      </Answer>
    </section>
  );
}

function One({ server, at }: { server: string; at: LoginAt | undefined }) {
  const folders = useAsk("workspaces.list", {});
  const ask = useAct("tools.login");
  const begin = useAct("tools.login_begin");
  const cancel = useAct("tools.login_cancel");
  const logout = useAct("tools.logout");
  const [typed, setFolder] = useState<string | null>(null);
  const folder = typed ?? said(folders.data?.workspaces[0]?.folder);
  const failed = ask.error ?? begin.error ?? cancel.error ?? logout.error;
  const look = at === undefined ? undefined : lookUp(LOOK, at.state, LOOK.logged_out);
  const isIn = at?.state === "logged_in" || at?.state === "refused";
  const send = () => ask.mutate({ server, scopes: [], workspace: folder.trim(), channel: "app" });
  const address = at?.state === "waiting" ? at.address : null;
  return (
    <>
      {at !== undefined && look !== undefined && (
        <p className={styles.asked}>
          <StateTag tone={look.tone} mark={look.mark}>{look.says}</StateTag>
          <span>with <Words of={at.host} />{at.scopes.length > 0 && <>, for: <Words of={at.scopes.join(", ")} /></>}</span>
          {at.state === "logged_in" && at.since !== null && <Time at={at.since} />}
        </p>
      )}
      {at !== undefined && at.why !== null && <p className={styles.words} role="status"><Words of={at.why} /></p>}
      {at?.next !== undefined && at.next !== null && (
        <>
          <p className={styles.words}>Calls of this server do not use the log-in yet. Add it again, at a terminal:</p>
          <Copyable text={at.next} />
        </>
      )}
      {address !== null && address !== undefined && at !== undefined && (
        <>
          <p><a href={address} target="_blank" rel="noreferrer noopener">Log in at <Words of={at.host} /></a>, in a browser on the computer that Hermit runs on.</p>
          <Copyable text={address} />
        </>
      )}
      {(at === undefined || at.state === "logged_out" || isIn) && folder === "" && <TextField label="Folder in which you are asked" mono value={folder} onChange={(event) => setFolder(event.target.value)} />}
      {ask.data !== undefined && at?.state !== "allowed" && at?.state !== "waiting" && !(at?.state === "logged_in") && (
        <p className={styles.asked} role="status">Hermit asks you to approve this first. <Link to="/task/$id" params={{ id: ask.data.task_id }}>Review it</Link></p>
      )}
      <div className={styles.buttons}>
        {at?.state === "allowed" && <Button because={begin.isPending ? "Beginning" : null} onClick={() => begin.mutate({ server })}>Go on in your browser</Button>}
        {at?.state === "waiting" && <Button because={cancel.isPending ? "Giving up" : null} onClick={() => cancel.mutate({ server })}>Give up</Button>}
        {at?.state !== "allowed" && at?.state !== "waiting" && <Button because={folder.trim() === "" ? "Name a folder first" : ask.isPending ? "Asking the server" : null} onClick={send}>{isIn ? "Log in again" : "Log in"}</Button>}
        {isIn && <Button because={logout.isPending ? "Logging out" : null} onClick={() => logout.mutate({ server })}>Log out</Button>}
      </div>
      {logout.data !== undefined && logout.data.not_revoked !== null && <p className={styles.words} role="status">The token is forgotten here. It was not taken back where it came from: <Words of={logout.data.not_revoked} /></p>}
      {failed !== null && <Failed error={failed} />}
    </>
  );
}
