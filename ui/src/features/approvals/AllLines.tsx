// Every line of a card, or every value that is signed: read part by part behind a title that opens, found by words.
import { useState } from "react";
import { usePages } from "~/ipc/client";
import { TextField } from "~/primitives/Field";
import { Answer } from "~/primitives/States";
import { cardLine } from "~/primitives/Time";
import { VirtualRows } from "~/primitives/VirtualRows";
import { Words } from "~/primitives/Words";
import lines from "~/primitives/Lines.module.css";

const PART = 500;
/** Up to so many lines nobody needs to look for one. */
const FEW = 80;

interface Line { key: string; text: string }
const keyOf = (line: Line) => line.key;

export function AllLines({ approval, of, title }: { approval: string; of: "card" | "signed"; title: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={lines.lines} data-mono={of === "signed" || undefined} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && <Pages approval={approval} of={of} title={title} />}
    </details>
  );
}

function Pages({ approval, of, title }: { approval: string; of: string; title: string }) {
  const [find, setFind] = useState("");
  const asked = usePages("approvals.lines", { approval, of, limit: PART, ...(find.trim() === "" ? {} : { find: find.trim() }) });
  return (
    <Answer asked={asked} what="the lines">
      {({ rows: found, more }) => {
        const rows = found.map((line, at) => ({ key: String(at), text: cardLine(line.text) }));
        return (
          <>
            {(more || rows.length > FEW || find !== "") && <TextField label="Find a line" type="search" value={find} onChange={(event) => setFind(event.target.value)} />}
            {rows.length <= FEW
              ? <div className={lines.all}>{rows.map((line) => <div key={line.key} className={lines.line}><Words of={line.text} /></div>)}</div>
              : <div className={lines.many}><VirtualRows rows={rows} height={18} measured rowKey={keyOf} role="list" label={title} onEnd={asked.further}>{(line) => <div className={lines.line}><Words of={line.text} /></div>}</VirtualRows></div>}
          </>
        );
      }}
    </Answer>
  );
}
