// Conversations: all of them, and the one that is open beside the list.
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { usePages } from "~/ipc/client";
import type { Conversation } from "~/ipc/generated/conversations";
import { Button } from "~/primitives/Button";
import { useParts } from "~/primitives/Parts";
import { Answer, Empty } from "~/primitives/States";
import { Count } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { useSteps } from "~/screen/keyboard";
import { Screen } from "~/screen/Screen";
import { brief, count, folderName, said } from "~/screen/words";
import { NewConversation } from "./NewConversation";
import { Thread } from "./Thread";
import styles from "./Conversations.module.css";

export const NEW = "new";

export function Conversations({ chosen }: { chosen: string | undefined }) {
  const navigate = useNavigate();
  const asked = usePages("conversations.list", { limit: 100 });
  const rows = useMemo(() => [...(asked.data?.rows ?? [])].sort((a, b) => b.updated_at - a.updated_at), [asked.data]);
  const go = useCallback((at: string | undefined) => void navigate({ to: "/conversations", search: at === undefined ? {} : { at }, replace: true }), [navigate]);
  // What is shown stays until a person chooses another, whatever is said elsewhere meanwhile. The address does not name it:
  // at a phone an address without one is the list.
  const [kept, keep] = useState<string>();
  const shownId = chosen ?? kept ?? rows[0]?.conversation_id;
  if (shownId !== undefined && shownId !== NEW && shownId !== kept) keep(shownId);
  const at = rows.findIndex((row) => row.conversation_id === shownId);
  useSteps(rows, at, useCallback((row: Conversation) => go(row.conversation_id), [go]));
  const { shown, rest } = useParts(rows, { reach: at, pages: { more: asked.data?.more === true, further: asked.further } });
  const waiting = rows.reduce((sum, row) => sum + row.waiting, 0);
  return (
    <Screen title="Conversations" sub={<span>{waiting === 0 ? "What you say becomes tasks, and each stays in its conversation." : `${count(waiting, "task")} in them ${waiting === 1 ? "waits" : "wait"} for you.`}</span>}>
      <div className={styles.conversations} data-chosen={chosen !== undefined || undefined}>
        <div className={styles.list}>
          <Button icon="plus" onClick={() => go(NEW)}>New conversation</Button>
          <Answer asked={asked} what="conversations" lines={8} isEmpty={(found) => found.rows.length === 0} empty={<Empty small title="No conversation yet">Begin one: choose a folder and say what should be done in it.</Empty>}>
            {() => (
              <>
                <ul aria-label="Conversations">
                  {shown.map((row) => (
                    <li key={row.conversation_id}>
                      <button type="button" className={styles.item} aria-current={row.conversation_id === shownId || undefined} onClick={() => go(row.conversation_id)}>
                        <span className={styles.what}><Words of={said(row.title)} /></span>
                        <Count of={row.waiting} />
                        <span className={styles.second}><span>{row.last_said === null ? "Nothing said yet" : brief(said(row.last_said))}</span><Time at={row.updated_at} /></span>
                        <span className={styles.third}>{[row.folder === null ? "" : folderName(said(row.folder)), row.open_tasks === 0 ? "" : count(row.open_tasks, "open task")].filter(Boolean).join(", ")}</span>
                      </button>
                    </li>
                  ))}
                </ul>
                {rest}
              </>
            )}
          </Answer>
        </div>
        {chosen === NEW ? <NewConversation opened={go} back={() => go(undefined)} /> : shownId !== undefined && <Thread key={shownId} id={shownId} back={() => go(undefined)} open={go} />}
      </div>
    </Screen>
  );
}
