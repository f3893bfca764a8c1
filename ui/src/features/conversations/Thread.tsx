// One conversation: everything said and done in it across its tasks, what is at work, and where a person writes.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useAct, useAsk, usePages, useSending, useShows } from "~/ipc/client";
import type { Conversation, Line } from "~/ipc/generated/conversations";
import type { TaskRow } from "~/ipc/generated/task";
import { Button } from "~/primitives/Button";
import { Icon } from "~/primitives/Icon";
import { Answer, Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { folderName, said } from "~/screen/words";
import { Composer } from "./Composer";
import { DropZone, useEnclosing } from "~/features/enclosing/Enclosing";
import { type Acts, Row } from "./Lines";
import { Now } from "./Now";
import { SkinChoice, SkinOn, useSkin } from "./Skin";
import { useTasks } from "./target";
import styles from "./Conversations.module.css";

/** Lines in one part. */
const PART = 50;
/** Nearer to the end than this, a person reads along. */
const NEAR_PX = 80;
const NONE: readonly TaskRow[] = [];

export function Thread({ id, back, open }: { id: string; back: () => void; open: (id: string) => void }) {
  const asked = useAsk("conversations.show", { conversation: id });
  return (
    <section className={styles.pane} aria-label="Conversation">
      <div className={styles.back}><Button look="link" onClick={back}>All conversations</Button></div>
      <Answer asked={asked} what="the conversation" lines={8}>{(conversation) => <Opened key={id} conversation={conversation} open={open} />}</Answer>
    </section>
  );
}

function Opened({ conversation, open }: { conversation: Conversation; open: (id: string) => void }) {
  const id = conversation.conversation_id;
  useShows(id);
  const lines = usePages("conversations.lines", { conversation: id, limit: PART });
  const tasks = useTasks(conversation);
  const focus = useAct("conversations.focus");
  const enclosing = useEnclosing(id);
  const { quote } = enclosing;
  const sending = useSending(id);
  const skin = useSkin(id);
  const rows = useMemo(() => [...(lines.data?.rows ?? [])].reverse(), [lines.data]);
  const here = tasks.rows ?? NONE;
  const { mutate: move } = focus;
  const titles = useMemo(() => new Map(here.map((row) => [row.task_id, said(row.title)])), [here]);
  const acts = useMemo((): Acts => ({
    focus: conversation.focus_task_id, hasFolder: conversation.folder !== null, quote,
    conversation: id, turnTo: (task) => move({ conversation: id, task }), titleOf: (task) => titles.get(task) ?? "an earlier task",
  }), [conversation.focus_task_id, conversation.folder, id, move, quote, titles]);
  const inFocus = here.find((row) => row.task_id === conversation.focus_task_id);
  return (
    <DropZone enclosing={enclosing} className={styles.opened}>
      <header className={styles.head}>
        <h2><Words of={said(conversation.title)} /></h2>
        <span>{conversation.folder === null ? "In no folder" : <><Icon name="folder" size={14} /><span title={said(conversation.folder)}><Words of={folderName(said(conversation.folder))} /></span></>}</span>
        {inFocus !== undefined && (
          <span className={styles.focus}>In focus: <Words of={said(inFocus.title)} /><Button look="quiet" icon="cross" aria-label="Turn away from it" title="Turn away from it" onClick={() => move({ conversation: id })} /></span>
        )}
        <SkinChoice conversation={id} of={skin} />
      </header>
      {focus.error !== null && <Failed error={focus.error} />}
      <SkinOn.Provider value={skin.worn}><Log asked={lines} rows={rows} acts={acts} sending={sending}><Now tasks={here} /></Log></SkinOn.Provider>
      <Composer conversation={conversation} tasks={tasks} enclosing={enclosing} open={open} />
    </DropZone>
  );
}

type Lines = ReturnType<typeof usePages<"conversations.lines">>;

/** The lines, the newest at the bottom and in sight while a person reads along there; what is looked at further up stays where it is. */
function Log({ asked, rows, acts, sending, children }: { asked: Lines; rows: readonly Line[]; acts: Acts; sending: string | null; children: React.ReactNode }) {
  const log = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(true);
  const near = useRef(true);
  const below = useRef<number | null>(null);
  const first = rows[0]?.seq;
  const last = rows.at(-1)?.seq;
  const toEnd = useCallback(() => {
    if (log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  }, []);
  useLayoutEffect(() => {
    if (log.current !== null && below.current !== null) log.current.scrollTop = log.current.scrollHeight - below.current;
    below.current = null;
  }, [first]);
  useLayoutEffect(() => {
    if (near.current) toEnd();
  }, [last, sending, toEnd]);
  // Words that come piece by piece, and pictures of a card, move the end without a new line.
  useEffect(() => {
    const inner = log.current?.firstElementChild;
    if (inner == null) return undefined;
    const watch = new ResizeObserver(() => near.current && toEnd());
    watch.observe(inner);
    return () => watch.disconnect();
  }, [toEnd]);
  const scrolled = () => {
    const at = log.current;
    if (at === null) return;
    near.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX;
    setNear(near.current);
  };
  const earlier = () => {
    below.current = log.current === null ? null : log.current.scrollHeight - log.current.scrollTop;
    asked.further();
  };
  return (
    <div className={styles.room}>
      <div className={styles.log} ref={log} onScroll={scrolled} tabIndex={0} role="log" aria-label="What was said and done">
        <div className={styles.lines}>
          <Answer asked={asked} what="what was said" lines={8} isEmpty={(found) => found.rows.length === 0 && sending === null} empty={<Nothing hasFolder={acts.hasFolder} />}>
            {(found) => (
              <>
                {found.more && <Button look="link" because={asked.isFetching ? "Reading" : null} onClick={earlier}>Show earlier</Button>}
                {rows.map((line, at) => <Row key={line.seq} line={line} before={rows[at - 1]} acts={acts} />)}
                {sending !== null && <div className={styles.message} data-who="user" aria-busy="true"><div className={styles.who}><b>You</b><span>sending</span></div><p className={styles.words}><Words of={sending} /></p></div>}
              </>
            )}
          </Answer>
          {children}
        </div>
      </div>
      {!isNear && <Button className={styles.toend ?? ""} icon="down" onClick={toEnd}>To the newest</Button>}
    </div>
  );
}

function Nothing({ hasFolder }: { hasFolder: boolean }) {
  return <p className={styles.nothing}>{hasFolder ? "Nothing was said here yet. Your first words begin a task in this folder." : "Nothing was said here yet. This conversation has no folder: words are bound to tasks that are open in it."}</p>;
}
