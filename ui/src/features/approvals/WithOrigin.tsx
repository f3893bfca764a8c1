// From a difference to where a file, or a line of it, came from, and to the file itself. Not in the window that a yes is given in: it leads nowhere.
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useAsk, useHost } from "~/ipc/client";
import { type Ways, WaysOn } from "~/primitives/Diff";
import { said } from "~/screen/words";

export function WithOrigin({ task, children }: { task: string; children: ReactNode }) {
  const asked = useAsk("task.show", { task });
  const navigate = useNavigate();
  const folder = said(asked.data?.workspace, "").replace(/[\\/]$/, "");
  const { files } = useHost();
  const ways = useMemo((): Ways => ({
    origin: (path, line) => {
      const file = folder === "" ? path : `${folder}/${path}`;
      void navigate({ to: "/lineage", search: { of: line === null ? file : `${file}:${line}` } });
    },
    save: files === undefined ? null : (path, text) => files.save(text, path.split("/").at(-1) ?? path),
  }), [folder, navigate, files]);
  return <WaysOn value={ways}>{children}</WaysOn>;
}
