// A file, or a line of it, as somebody names it: who wrote it in sentences, and the path of its newest change.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { refusal, type Refused } from "~/host/host";
import { useAsk, useHost } from "~/ipc/client";
import type { Explained } from "~/ipc/generated/trace";
import { Answer, Empty, sentence } from "~/primitives/States";
import { localTimes } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Lineage.module.css";

/** An identifier of the store; anything else that is looked for is a file. */
export const isIdentifier = (text: string) => /^([a-z]+_[0-9a-f]{32}|effect:.+)$/.test(text);

/** `notes/a.md:12` as the file and the number of its line. */
export function fileAndLine(text: string): { path: string; line: number | null } {
  const [, path = text, line] = /^(.+?)(?::(\d+))?$/.exec(text) ?? [];
  return { path, line: line === undefined ? null : Number(line) };
}

/** Where a file may lie: where it says, or in a folder that was worked in; they come with the last one first. */
export function placesOf(path: string, folders: readonly string[]): string[] {
  const isWhole = /^(\/|[A-Za-z]:[\\/])/.test(path);
  return isWhole ? [path] : folders.map((folder) => `${folder.replace(/[\\/]$/, "")}/${path}`);
}

export function ByFile({ of, path }: { of: string; path: (receipt: string) => ReactNode }) {
  const host = useHost();
  const { path: file, line } = fileAndLine(of);
  const workspaces = useAsk("workspaces.list", {});
  const folders = (workspaces.data?.workspaces ?? []).map((one) => one.folder).filter((folder) => typeof folder === "string");
  const asked = useQuery<Explained, Refused>({
    queryKey: ["trace.explain", "file", of, folders],
    enabled: workspaces.data !== undefined,
    queryFn: async () => {
      let missed: Refused | null = null;
      for (const subject of placesOf(file, folders)) {
        try {
          return await host.call("trace.explain", { subject, line });
        } catch (thrown) {
          // What tells most is why the folder that was worked in last does not know it.
          missed ??= refusal(thrown);
        }
      }
      throw missed ?? refusal(new Error("no folder was worked in yet, so no file is known"));
    },
  });
  const found = workspaces.error === null ? asked : { ...asked, error: workspaces.error };
  return (
    <Answer asked={found} what="the file" lines={6}>
      {(told) => {
        const receipt = told.line?.written_by ?? told.chains[0]?.receipt_id;
        return (
          <div className={styles.file}>
            <section className={styles.told} aria-label="What is known of the file">
              <b><Words of={line === null ? told.subject : `${told.subject}:${line}`} /></b>
              {told.line !== null && <pre><Words of={told.line.text} /></pre>}
              {told.line !== null && <p>{told.line.written_by === null ? "No change of Hermit's wrote this line." : "Written by the change below."}</p>}
              {told.told.map((words) => <p key={words}>{sentence(localTimes(words))}</p>)}
            </section>
            {receipt === undefined ? <Empty title="No change of it is on record" small>Hermit read it at most; nothing that Hermit did changed it.</Empty> : path(receipt)}
          </div>
        );
      }}
    </Answer>
  );
}
