// Projects: folders that belong together, by the hash that their repository gives them; a folder without one is its own.
import type { Workspace } from "~/ipc/generated/workspaces";
import { folderName, said } from "./words";

export interface Project {
  /** The hash, or the identifier of the one folder. */
  key: string;
  name: string;
  folders: readonly Workspace[];
  tasks: number;
  waiting: number;
}

/** Folders by project, in the order in which they come. */
export function projectsOf(workspaces: readonly Workspace[]): Project[] {
  const found = new Map<string, Workspace[]>();
  for (const one of workspaces) {
    const key = one.project_hash ?? one.workspace_id;
    found.set(key, [...(found.get(key) ?? []), one]);
  }
  const sum = (all: readonly Workspace[], of: "tasks" | "waiting") => all.reduce((sum, one) => sum + one[of], 0);
  const projects = [...found].map(([key, folders]) => ({ key, name: nameOf(folders), folders, tasks: sum(folders, "tasks"), waiting: sum(folders, "waiting") }));
  // Two folders may have one name: then the folder above is told, too.
  const often = new Set(projects.map((one) => one.name).filter((name, at, all) => all.indexOf(name) !== at));
  return projects.map((one) => (often.has(one.name) ? { ...one, name: `${one.name} (${above(one.folders)})` } : one));
}

function nameOf(folders: readonly Workspace[]): string {
  const first = folderName(said(folders[0]?.folder));
  return folders.length > 1 ? `${first} and ${folders.length - 1} more` : first;
}

function above(folders: readonly Workspace[]): string {
  return said(folders[0]?.folder).replace(/[\\/][^\\/]*$/, "");
}
