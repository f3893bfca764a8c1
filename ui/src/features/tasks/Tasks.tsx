// Every task, as a list or on a board.
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useMemo, useState } from "react";
import { Screen } from "~/app/Screen";
import { brief, cost, count, plain, run, said, tokens } from "~/features/words";
import { usePages } from "~/ipc/client";
import type { TaskRow } from "~/ipc/generated/task";
import { Button, Segmented } from "~/primitives/Button";
import { TextField } from "~/primitives/Field";
import { Answer, Empty } from "~/primitives/States";
import { StateWord } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { VirtualRows } from "~/primitives/VirtualRows";
import { Words } from "~/primitives/Words";
import styles from "./Tasks.module.css";

const PAGE = 500;
const FILTERS = {
  all: () => true,
  you: (row: TaskRow) => row.open_approvals + row.open_questions + row.unknown_effects > 0,
  working: (row: TaskRow) => row.ended_at === null && row.open_approvals + row.open_questions + row.unknown_effects === 0,
  ended: (row: TaskRow) => row.ended_at !== null,
} as const;
type Filter = keyof typeof FILTERS;

export function Tasks() {
  const navigate = useNavigate();
  const [filter, setFilter] = useState<Filter>("all");
  const [look, setLook] = useState<"list" | "board">("list");
  const [search, setSearch] = useState("");
  const words = useDeferredValue(search.trim());
  const asked = usePages("task.list", { limit: PAGE, ...(words === "" ? {} : { search: words }) });
  const rows = useMemo(() => (asked.data?.rows ?? []).filter(FILTERS[filter]), [asked.data, filter]);
  const of = (name: Filter) => (asked.data?.rows ?? []).filter(FILTERS[name]).length;
  return (
    <Screen
      title="Tasks"
      sub={asked.data !== undefined && <span>{count(asked.data.rows.length, "task")}{asked.data.more && " and more"}</span>}
      actions={<Button icon="plus" onClick={() => void navigate({ to: "/tasks/new" })}>New task</Button>}
    >
      <div className={styles.tasks}>
        <div className={styles.tools}>
          <Segmented<Filter>
            label="Which tasks" value={filter} onChange={setFilter}
            options={[
              { value: "all", label: "All" },
              { value: "you", label: `Waiting for you ${of("you") || ""}` },
              { value: "working", label: `Going on ${of("working") || ""}` },
              { value: "ended", label: "Ended" },
            ]}
          />
          <div className={styles.search}>
            <TextField label="Search tasks" hideLabel placeholder="Words in goal, conversation, files" type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
          </div>
          <Segmented label="Look" value={look} onChange={setLook} options={[{ value: "list", label: "List" }, { value: "board", label: "Board" }]} />
        </div>
        <Answer
          asked={asked} what="tasks" lines={10} isEmpty={() => rows.length === 0}
          empty={words !== "" || filter !== "all"
            ? <Empty title="No task fits" small>Another word, or another filter.</Empty>
            : (
              <Empty title="No task yet" todo>
                Give a folder and a goal, or a playbook that needs no model.
                <Button look="person" loose onClick={() => void navigate({ to: "/tasks/new" })}>New task</Button>
              </Empty>
            )}
        >
          {() => (look === "list" ? <List rows={rows} onEnd={asked.further} open={(id) => void navigate({ to: "/task/$id", params: { id } })} /> : <Board rows={rows} open={(id) => void navigate({ to: "/task/$id", params: { id } })} />)}
        </Answer>
      </div>
    </Screen>
  );
}

function State({ row }: { row: TaskRow }) {
  const at = run(row);
  return <StateWord tone={at.tone} mark={at.mark}>{at.word}</StateWord>;
}

function second(row: TaskRow): string {
  const parts = [
    row.open_approvals > 0 && count(row.open_approvals, "approval"),
    row.open_questions > 0 && count(row.open_questions, "question"),
    row.receipts > 0 && count(row.receipts, "receipt"),
  ].filter((part) => part !== false);
  if (row.refused_by !== null) return "Nothing was done";
  return parts.length > 0 ? parts.join(", ") : row.reason;
}

function opens(open: () => void) {
  return {
    onClick: open,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter") open();
      const to = event.key === "ArrowDown" ? "nextElementSibling" : event.key === "ArrowUp" ? "previousElementSibling" : null;
      const next = to === null ? null : event.currentTarget[to];
      if (next instanceof HTMLElement) {
        event.preventDefault();
        next.focus();
      }
    },
  };
}

function List({ rows, onEnd, open }: { rows: readonly TaskRow[]; onEnd: () => void; open: (id: string) => void }) {
  return (
    <div className={styles.list} role="table" aria-label="Tasks" aria-rowcount={rows.length}>
      <div className={styles.headrow} role="row">
        {["State", "Task", "Policy", "Turns", "Tokens", "Cost", "Begun", "Last"].map((head) => <span key={head} role="columnheader">{head}</span>)}
      </div>
      <VirtualRows rows={rows} height={46} rowKey={(row) => row.task_id} role="rowgroup" onEnd={onEnd}>
        {(row) => (
          <div className={styles.row} role="row" tabIndex={0} {...opens(() => open(row.task_id))}>
            <span role="cell"><State row={row} /></span>
            <span role="cell" className={styles.what}>
              <span><Words of={brief(said(row.title))} /></span>
              <span>{second(row)}</span>
            </span>
            <span role="cell" className={styles.faint}>{plain(row.profile)}</span>
            <span role="cell">{row.iterations}</span>
            <span role="cell">{tokens(row.tokens_used)}</span>
            <span role="cell">{cost(row.cost_micros)}</span>
            <span role="cell"><Time at={row.created_at} clock /></span>
            <span role="cell"><Time at={row.updated_at} /></span>
          </div>
        )}
      </VirtualRows>
    </div>
  );
}

const isDone = (row: TaskRow) => FILTERS.ended(row) && row.run_status === "completed" && row.refused_by === null;

const COLUMNS: readonly { title: string; has: (row: TaskRow) => boolean }[] = [
  { title: "Waiting for you", has: FILTERS.you },
  { title: "Going on", has: FILTERS.working },
  { title: "Done", has: (row) => isDone(row) && !FILTERS.you(row) },
  { title: "Ended otherwise", has: (row) => FILTERS.ended(row) && !isDone(row) && !FILTERS.you(row) },
];

function Board({ rows, open }: { rows: readonly TaskRow[]; open: (id: string) => void }) {
  return (
    <div className={styles.board}>
      {COLUMNS.map((column) => {
        const here = rows.filter(column.has);
        return (
          <section key={column.title} aria-label={column.title}>
            <h2>{column.title}<span>{here.length}</span></h2>
            <ul>
              {here.slice(0, 60).map((row) => (
                <li key={row.task_id}>
                  <button type="button" onClick={() => open(row.task_id)}>
                    <State row={row} />
                    <span className={styles.title}><Words of={brief(said(row.title))} /></span>
                    <span className={styles.foot}><span>{second(row)}</span><Time at={row.updated_at} /></span>
                  </button>
                </li>
              ))}
              {here.length > 60 && <li className={styles.faint}>{here.length - 60} more in the list</li>}
              {here.length === 0 && <li className={styles.faint}>None</li>}
            </ul>
          </section>
        );
      })}
    </div>
  );
}
