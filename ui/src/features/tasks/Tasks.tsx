// Every task, as a list or on a board, of all projects or of one; and the projects themselves.
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { serviceName, useServices } from "~/features/chats/services";
import { Screen } from "~/screen/Screen";
import { brief, cost, count, folderName, originName, run, said, tokens } from "~/screen/words";
import { useAsk, usePages } from "~/ipc/client";
import type { ServiceNeeds } from "~/ipc/generated/gateways";
import type { ChatSender, TaskCounts, TaskRow } from "~/ipc/generated/task";
import { Button, Segmented } from "~/primitives/Button";
import { Select, TextField } from "~/primitives/Field";
import { Answer, Empty } from "~/primitives/States";
import { StateWord } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { many } from "~/primitives/number";
import { VirtualRows } from "~/primitives/VirtualRows";
import { Prose, Words } from "~/primitives/Words";
import { type Project, projectsOf } from "~/screen/projects";
import { Projects } from "./Projects";
import { Steps } from "./Steps";
import styles from "./Tasks.module.css";

/** Rows of a part of the list, and cards of a part of a column. */
const PAGE = 200;
const CARDS = 60;

const FILTERS = { all: undefined, you: "waiting", working: "going", ended: "ended" } as const;
type Filter = keyof typeof FILTERS;
type Look = "list" | "board" | "steps" | "projects";

/** Whether a look is of tasks, which can be chosen among. */
const tasksOf = (look: Look) => look === "list" || look === "board";
const keyOf = (row: TaskRow) => row.task_id;

/** `of` is a project, by its key; without one all of them. */
export function Tasks({ of, look: opened }: { of?: string | undefined; look?: string | undefined }) {
  const navigate = useNavigate();
  const [filter, setFilter] = useState<Filter>("all");
  const look: Look = opened === "board" || opened === "steps" || opened === "projects" ? opened : "list";
  const to = (next: Look, project: string | undefined) =>
    void navigate({ to: "/tasks", search: { ...(next === "list" ? {} : { look: next }), ...(project === undefined ? {} : { project }) }, replace: true });
  const [search, setSearch] = useState("");
  const words = useDeferredValue(search.trim());
  const counted = useAsk("task.count", {}, { keep: true });
  const open = useCallback((id: string) => void navigate({ to: "/task/$id", params: { id } }), [navigate]);
  const begin = () => void navigate({ to: "/tasks/new" });
  const folders = useAsk("workspaces.list", {}, { keep: true });
  const projects = useMemo(() => projectsOf(folders.data?.workspaces ?? []), [folders.data]);
  const project = projects.find((one) => one.key === of);
  const counts = project === undefined ? counted.data : undefined;
  const label = (word: string, n: number | undefined) => (n === undefined || n === 0 ? word : `${word} ${many(n)}`);
  const board = look === "board";
  const which: Which = { words, project };
  return (
    <Screen
      title="Tasks"
      sub={project !== undefined ? <span>{count(project.tasks, "task")} in {project.name}</span> : counts !== undefined && <span>{count(counts.all, "task")}</span>}
      actions={<><Link to="/schedules" className={styles.schedules}>Schedules</Link><Button icon="plus" onClick={begin}>New task</Button></>}
    >
      <div className={styles.tasks}>
        <div className={styles.tools}>
          {tasksOf(look) && projects.length > 1 && (
            <Select
              label="Project" hideLabel value={project?.key ?? ""} onChange={(event) => to(look, event.target.value === "" ? undefined : event.target.value)}
              options={[{ value: "", label: "All projects" }, ...projects.map((one) => ({ value: one.key, label: one.name }))]}
            />
          )}
          {tasksOf(look) && <Segmented<Filter>
            label="Which tasks" value={board ? "all" : filter} onChange={setFilter}
            options={([
              { value: "all", label: "All" },
              { value: "you", label: label("Waiting for you", counts?.waiting) },
              { value: "working", label: label("In progress", counts?.going) },
              { value: "ended", label: "Ended" },
            ] as const).map((one) => (board && one.value !== "all" ? { ...one, because: "The board shows all of them, side by side" } : one))}
          />}
          {tasksOf(look) && <div className={styles.search}>
            <TextField label="Search tasks" hideLabel placeholder="Words in goal, conversation, files" type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
          </div>}
          <Segmented<Look>
            label="Look" value={look} onChange={(next) => to(next, tasksOf(next) ? project?.key : undefined)}
            options={[{ value: "list", label: "List" }, { value: "board", label: "Board" }, { value: "steps", label: "Steps" }, { value: "projects", label: "Projects" }]}
          />
        </div>
        {look === "steps" ? <Steps /> : look === "projects" ? <Projects asked={folders} open={(key) => to("list", key)} />
          : board ? <Board which={which} counts={counts} open={open} /> : <List filter={filter} which={which} open={open} begin={begin} />}
      </div>
    </Screen>
  );
}

interface Which { words: string; project: Project | undefined }

/** What is asked for: tasks of a group, in which words stand, in the folders of a project. */
function wanted(group: string | undefined, { words, project }: Which) {
  return {
    ...(group === undefined ? {} : { group }), ...(words === "" ? {} : { search: words }),
    ...(project === undefined ? {} : { workspaces: project.folders.map((one) => one.workspace_id) }),
  };
}

function State({ row }: { row: TaskRow }) {
  const at = run(row);
  return <StateWord tone={at.tone} mark={at.mark}>{at.word}</StateWord>;
}

/** Letters of a name that a stranger chose. */
const NAME_LETTERS = 60;

/** "Ana on Telegram": the name is their own choice, and nobody has checked it. */
function inChat({ sender_name, service }: ChatSender, services: readonly ServiceNeeds[]): string {
  return `${said(sender_name).slice(0, NAME_LETTERS)} on ${serviceName(services, service)}`;
}

/** What is most worth knowing of it, and who began it when no person did. */
function second(row: TaskRow, services: readonly ServiceNeeds[]): string {
  if (row.from_chat !== null) return `${inChat(row.from_chat, services)}: ${stands(row)}`;
  return row.origin === "person" ? stands(row) : `${originName(row.origin)}: ${stands(row)}`;
}

function stands(row: TaskRow): string {
  const parts = [
    row.open_approvals > 0 && count(row.open_approvals, "approval"),
    row.open_questions > 0 && count(row.open_questions, "question"),
    row.receipts > 0 && count(row.receipts, "receipt"),
  ].filter((part) => part !== false);
  if (row.refused_by !== null) return "Nothing was done";
  if (row.because !== null) return said(row.because);
  return parts.length > 0 ? parts.join(", ") : row.reason;
}

function List({ filter, which, open, begin }: { filter: Filter; which: Which; open: (id: string) => void; begin: () => void }) {
  const asked = usePages("task.list", { limit: PAGE, ...wanted(FILTERS[filter], which) });
  return (
    <Answer
      asked={asked} what="tasks" lines={10} isEmpty={(page) => page.rows.length === 0}
      empty={which.words !== "" || which.project !== undefined || filter !== "all"
        ? <Empty title="No task fits" small>Another word, or another filter.</Empty>
        : (
          <Empty title="No task yet" todo>
            Give a folder and a goal, or a playbook that needs no model.
            <Button look="person" loose onClick={begin}>New task</Button>
          </Empty>
        )}
    >
      {(page) => (
        <div className={styles.list} role="table" aria-label="Tasks" aria-rowcount={page.more ? -1 : page.rows.length + 1}>
          <div className={styles.headrow} role="row">
            {["State", "Task", "Folder", "Turns", "Tokens", "Cost", "Started", "Changed"].map((head) => <span key={head} role="columnheader">{head}</span>)}
          </div>
          <VirtualRows rows={page.rows} height={46} rowKey={keyOf} role="rowgroup" onEnd={asked.further}>
            {(row, at, stop) => <Line row={row} at={at} stop={stop} open={open} />}
          </VirtualRows>
        </div>
      )}
    </Answer>
  );
}

function Line({ row, at, stop, open }: { row: TaskRow; at: number; stop: 0 | -1; open: (id: string) => void }) {
  const services = useServices();
  const go = () => open(row.task_id);
  return (
    <div className={styles.row} role="row" aria-rowindex={at + 2} tabIndex={stop} onClick={go} onKeyDown={(event) => event.key === "Enter" && go()}>
      <span role="cell"><State row={row} /></span>
      <span role="cell" className={styles.what}>
        <span><Words of={brief(said(row.title))} /></span>
        <span title={second(row, services)}><Prose of={second(row, services)} /></span>
      </span>
      <span role="cell" className={styles.faint} title={said(row.workspace)}><Words of={folderName(said(row.workspace))} /></span>
      <span role="cell">{row.iterations}</span>
      <span role="cell">{tokens(row.tokens_used)}</span>
      <span role="cell">{cost(row.cost_micros)}</span>
      <span role="cell"><Time at={row.created_at} clock /></span>
      <span role="cell"><Time at={row.updated_at} /></span>
    </div>
  );
}

const COLUMNS = [
  { title: "Waiting for you", group: "waiting" },
  { title: "In progress", group: "going" },
  { title: "Done", group: "done" },
  { title: "Ended otherwise", group: "otherwise" },
] as const;

function Board({ which, counts, open }: { which: Which; counts: TaskCounts | undefined; open: (id: string) => void }) {
  return (
    <div className={styles.board}>
      {COLUMNS.map(({ title, group }) => (
        <Column key={group} title={title} group={group} which={which} known={which.words === "" && (group === "waiting" || group === "going") ? counts?.[group] : undefined} open={open} />
      ))}
    </div>
  );
}

/** A column of the board: its own list, of which only the cards in sight exist. */
function Column({ title, group, which, known, open }: { title: string; group: string; which: Which; known: number | undefined; open: (id: string) => void }) {
  const services = useServices();
  const asked = usePages("task.list", { limit: CARDS, ...wanted(group, which) });
  const page = asked.data;
  const number = known ?? page?.rows.length;
  return (
    <section aria-label={title}>
      <h2>{title}<span>{number === undefined ? "" : `${many(number)}${known === undefined && page?.more === true ? "+" : ""}`}</span></h2>
      <Answer asked={asked} what={`tasks: ${title.toLowerCase()}`} isEmpty={(found) => found.rows.length === 0} empty={<p className={styles.faint}>None</p>}>
        {(found) => (
          <VirtualRows rows={found.rows} height={96} measured whole={12} rowKey={keyOf} role="list" label={title} pad={[0, 16]} onEnd={asked.further}>
            {(row, _, stop) => (
              <button type="button" tabIndex={stop} onClick={() => open(row.task_id)}>
                <State row={row} />
                <span className={styles.title}><Words of={brief(said(row.title))} /></span>
                <span className={styles.foot}><span><Words of={[folderName(said(row.workspace)), second(row, services)].filter(Boolean).join(", ")} /></span><Time at={row.updated_at} /></span>
              </button>
            )}
          </VirtualRows>
        )}
      </Answer>
    </section>
  );
}
