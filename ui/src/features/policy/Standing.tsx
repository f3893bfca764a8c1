// What a person always allows: in force, how much of it is used, and the way to take it back.
import { plain } from "~/screen/words";
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
    <Answer asked={asked} what="standing approvals" isEmpty={(found) => found.rows.length === 0} empty={<Empty title="No standing approvals">On a card you can approve similar actions from now on, within bounds. You can revoke those approvals here.</Empty>}>
      {(found) => (
        <>
          {revoke.error !== null && <Failed error={revoke.error} />}
          <table className={table.table}>
            <caption className={table.faint}>Standing approvals</caption>
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
