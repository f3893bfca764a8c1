// Projects: the folders that were worked in, what was done in each, and the way to the next task there.
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Refused } from "~/host/host";
import type { Workspaces } from "~/ipc/generated/workspaces";
import { Button } from "~/primitives/Button";
import { many } from "~/primitives/number";
import { useParts } from "~/primitives/Parts";
import { Answer, Empty } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { type Project, projectsOf } from "~/screen/projects";
import { said } from "~/screen/words";
import styles from "./Tasks.module.css";

export function Projects({ asked, open }: { asked: UseQueryResult<Workspaces, Refused>; open: (project: string) => void }) {
  return (
    <Answer
      asked={asked} what="projects" lines={8} isEmpty={(found) => found.workspaces.length === 0}
      empty={<Empty title="No project yet">The folder of a task is listed here, with everything that was done in it. <Link to="/tasks/new">New task</Link></Empty>}
    >
      {(found) => <Rows projects={projectsOf(found.workspaces)} open={open} />}
    </Answer>
  );
}

function Rows({ projects, open }: { projects: Project[]; open: (project: string) => void }) {
  const { shown, rest } = useParts(projects);
  return (
    <div className={styles.projects}>
      <table className={table.table}>
        <thead><tr><th>Project</th><th className={table.right}>Tasks</th><th className={table.right}>Waiting for you</th><th className={table.right}>Last task</th><th /></tr></thead>
        <tbody>
          {shown.flatMap((project) => project.folders.map((folder, at) => (
            <tr key={folder.workspace_id}>
              <td className={`${table.main} ${styles.path}`}>
                {at === 0 && <Button look="link" onClick={() => open(project.key)}><Words of={project.name} /></Button>}
                <div><Words of={said(folder.folder)} /></div>
              </td>
              <td className={table.right}>{many(folder.tasks)}</td>
              <td className={table.right}>{folder.waiting === 0 ? "" : many(folder.waiting)}</td>
              <td className={table.right}>{folder.last_at !== null && <Time at={folder.last_at} ago />}</td>
              <td className={table.right}><Link to="/tasks/new" search={{ folder: said(folder.folder) }}>New task here</Link></td>
            </tr>
          )))}
        </tbody>
      </table>
      {rest}
      <p className={styles.faint}>Folders of one Git repository are one project. A new task takes over the policy, model and rules of the last one in its folder.</p>
    </div>
  );
}
