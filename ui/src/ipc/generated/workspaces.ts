// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type { Text } from "./shared";
import type { ProjectSource } from "./words";

/** Nothing to say. */
export type List = Record<string, never>;

/** All of them. */
export interface Workspaces {
  workspaces: Workspace[];
}

/** One folder. */
export interface Workspace {
  workspace_id: string;
  folder: Text;
  /** The same in every folder of one project; absent until the folder is worked in again, where an older Hermit knew it. */
  project_hash: string | null;
  /** What the project is told by. */
  project_source: ProjectSource | null;
}
