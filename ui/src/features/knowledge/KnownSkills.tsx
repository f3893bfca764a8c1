// The skills that a project and the person have, with how each stands: they are trusted and read on the page Tools.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { SkillRow } from "~/ipc/generated/skills";
import type { SkillState } from "~/ipc/generated/words";
import { Select } from "~/primitives/Field";
import { Answer, Empty } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Words } from "~/primitives/Words";
import table from "~/primitives/Table.module.css";
import { said } from "~/screen/words";
import styles from "./Knowledge.module.css";

const TONE: Readonly<Record<SkillState, "done" | "waiting" | "failed" | "mute">> = { trusted: "done", untrusted: "waiting", changed: "waiting", shadowed: "mute", broken: "failed" };

export function KnownSkills() {
  const folders = useAsk("workspaces.list", {});
  const named = (folders.data?.workspaces ?? []).map((one) => said(one.folder)).filter((one) => one !== "");
  const [chosen, setChosen] = useState<string | null>(null);
  const folder = chosen ?? named[0] ?? "";
  const asked = useAsk("skills.list", { folder: folder === "" ? null : folder }, { enabled: !folders.isPending });
  return (
    <div className={styles.memories}>
      <div className={styles.filters}>
        <Select label="Project" value={folder} onChange={(event) => setChosen(event.target.value)} options={[{ value: "", label: "None: only your own" }, ...named.map((one) => ({ value: one, label: one }))]} />
        <Link to="/tools" search={{ tab: "skills" }}>Add or trust a skill</Link>
      </div>
      <Answer asked={asked} what="skills" isEmpty={(found) => found.skills.length === 0 && found.playbooks.length === 0} empty={<Empty title="No skills here">A skill is a folder with a SKILL.md: instructions that a model follows once you trust them.</Empty>}>
        {(found) => (
          <div className={styles.rows}>
            <table className={table.table}>
              <thead><tr><th>Skill</th><th>What it is for</th><th>State</th></tr></thead>
              <tbody>
                {found.skills.map((row) => <Skill key={`${row.name} ${row.place}`} row={row} />)}
                {found.playbooks.map((row) => (
                  <tr key={`playbook ${row.name}`}>
                    <td className={table.main}><Words of={row.name} /></td>
                    <td><Words of={row.about} /></td>
                    <td><StateTag tone="done">playbook</StateTag></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Answer>
    </div>
  );
}

function Skill({ row }: { row: SkillRow }) {
  return (
    <tr>
      <td className={table.main}><Link to="/tools" search={{ tab: "skills", of: `${row.name} ${row.place}` }}><Words of={row.name} /></Link></td>
      <td>{row.description !== null && <Words of={row.description} />}{row.why !== null && <div className={table.faint}><Words of={row.why} /></div>}</td>
      <td><StateTag tone={TONE[row.state]}>{row.state}</StateTag></td>
    </tr>
  );
}
