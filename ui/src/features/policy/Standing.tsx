// What a person always allows: in force, how much of it is used, and the way to take it back.
import { plain } from "~/features/words";
import { useAct, useAsk } from "~/ipc/client";
import type { StandingGrant } from "~/ipc/generated/grants";
import { Button } from "~/primitives/Button";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";

export function Standing() {
  const asked = useAsk("grants.standing", {});
  const revoke = useAct("grants.revoke");
  return (
    <Answer asked={asked} what="what you always allow" isEmpty={(found) => found.rows.length === 0} empty={<Empty title="You always allow nothing">At a card you may allow the like of it from now on, within bounds. What you allowed so would be listed here, to be taken back.</Empty>}>
      {(found) => (
        <>
          {revoke.error !== null && <Failed error={revoke.error} />}
          <table className={table.table}>
            <caption className={table.faint}>Always allowed</caption>
            <thead><tr><th>What</th><th>Grant</th><th>Where</th><th className={table.right}>Used</th><th className={table.right}>Ends</th><th /></tr></thead>
            <tbody>{found.rows.map((row: StandingGrant) => (
              <tr key={row.grant_id}>
                <td className={table.main}>{row.words === null ? "erased" : <Words of={row.words} />}</td>
                <td><Hash of={row.grant_id} what="standing grant" /></td>
                <td>{row.place === null ? "everywhere" : <><div>{plain(row.scope)}</div><div className={table.faint}><Words of={row.place} /></div></>}</td>
                <td className={table.right}>{row.uses} of {row.max_uses}</td>
                <td className={table.right}><Time at={row.expires_at} /></td>
                <td className={table.right}>{row.state === "active" && <Button onClick={() => revoke.mutate({ grant: row.grant_id, reason: "revoked from the window" })}>Revoke</Button>}</td>
              </tr>
            ))}</tbody>
          </table>
        </>
      )}
    </Answer>
  );
}
