// From a difference to where a file, or a line of it, came from, and to the file itself. Not in the window that a yes is given in: it leads nowhere.
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useAsk, useHost, useMake } from "~/ipc/client";
import { type Ways, WaysOn } from "~/primitives/Diff";
import { Failed } from "~/primitives/States";
import { said } from "~/screen/words";

/** Bytes of a name that a file can be saved under. */
const NAME_BYTES = 200;

/** The name of a file, as one that can be saved; of a long one the end, which says what it is. */
function nameOf(path: string): string {
  let name = (path.split("/").at(-1) ?? path).replace(/[\p{Cc}\\]/gu, "_");
  while (new TextEncoder().encode(name).length > NAME_BYTES) name = name.slice(1);
  return name === "" ? "file" : name;
}

/** `of`: the approval or receipt. */
export function WithOrigin({ of, task, children }: { of: string; task: string; children: ReactNode }) {
  const asked = useAsk("task.show", { task });
  const navigate = useNavigate();
  const folder = said(asked.data?.workspace, "").replace(/[\\/]$/, "");
  const { files } = useHost();
  const { mutate: take, error } = useMake("changes.export");
  const ways = useMemo((): Ways => ({
    origin: (path, line) => {
      const file = folder === "" ? path : `${folder}/${path}`;
      void navigate({ to: "/lineage", search: { of: line === null ? file : `${file}:${line}` } });
    },
    save: files === undefined ? null : (path, text) => files.save(text, nameOf(path)),
    take: files === undefined ? null : (path, sha256) => take(() => files.download("changes.export", { of, sha256 }, nameOf(path))),
  }), [of, folder, navigate, files, take]);
  return <WaysOn value={ways}>{error !== null && <Failed error={error} />}{children}</WaysOn>;
}
