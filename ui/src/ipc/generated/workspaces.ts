// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { ProjectSource } from "./words";

/** Nothing to say. */
export type List = Record<string, never>;

/** Names in a folder, for somebody who is naming one. */
export interface Files {
  /** The folder, absolute; `~` is the home of whoever runs the host. With `folders`, its last part may be unfinished. */
  folder: string;
  /** What stands somewhere in the path; empty is any. */
  find?: string;
  /** Folders that lie in it and begin like its unfinished last part, and nothing deeper. */
  folders?: boolean;
}

/** A folder that was moved or renamed. */
export interface Moved {
  /** Where it was, absolute. */
  from: string;
  /** Where it is. */
  to: string;
}

/** All of them. */
export interface Workspaces {
  workspaces: Workspace[];
}

/** The first names that fit, those that lie higher first. */
export interface FolderFiles {
  /** Paths, relative to the folder; absolute ones where folders were asked for. */
  paths: string[];
  /** Whether there may be more. */
  more: boolean;
}

/** Where a folder is now, as the project that it was. */
export interface MovedTo {
  workspace_id: string;
  project_hash: string;
}

/** One folder. */
export interface Workspace {
  workspace_id: string;
  folder: Text;
  /** The same in every folder of one project; absent until the folder is worked in again, where an older Hermit knew it. */
  project_hash: string | null;
  /** What the project is told by. */
  project_source: ProjectSource | null;
  /** Tasks in it, and of these those that wait for a person. */
  tasks: number;
  waiting: number;
  /** The task that was begun last: its policy, model and rules are proposed for the next one. */
  last_task_id: string | null;
  last_at: number | null;
}
