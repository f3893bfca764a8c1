// What is asked, in which folder, and where that folder is. The folder is told by the task, and is no part of what is signed.
import type { Approval } from "~/ipc/generated/approvals";
import { Words } from "~/primitives/Words";
import { capital, folderName, said } from "~/screen/words";
import styles from "./Card.module.css";

/** Letters of a folder's name in a title; its path stands whole below it. */
const NAME_LETTERS = 60;

/** The last part of a path, cut where it is long. */
export function shortFolder(path: string): string {
  const name = [...folderName(path)];
  return name.length <= NAME_LETTERS ? name.join("") : `${name.slice(0, NAME_LETTERS).join("")}…`;
}

export function Title({ approval }: { approval: Approval }) {
  const { workspace } = approval.row;
  const path = workspace == null ? null : said(workspace);
  // What touches no file of the folder is not done in it.
  const isIn = typeof workspace === "string" && approval.resources > 0;
  return (
    <>
      <h2><Words of={capital(approval.title)} />{isIn && <> in <Words of={shortFolder(workspace)} /></>}</h2>
      {path !== null && <p className={styles.folder}>Folder: <Words of={path} /></p>}
    </>
  );
}
