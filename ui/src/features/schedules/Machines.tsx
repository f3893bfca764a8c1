// Which machines of a person may run a schedule, the first one first: shown where the mesh is on, and changed here.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { nodeName } from "~/features/mesh/words";
import { useAct, useAsk } from "~/ipc/client";
import type { Mesh, Node } from "~/ipc/generated/mesh";
import type { Schedule } from "~/ipc/generated/schedules";
import { Button } from "~/primitives/Button";
import { Select, TextField } from "~/primitives/Field";
import { Answer, Failed } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { heldBy } from "./held";
import styles from "./Schedules.module.css";

/** Minutes that the machine which runs it may be silent: where nothing is said, at least, and at most. */
const TERM = { usual: 10, least: 2, most: 7 * 24 * 60 };

/** A machine that may run it. */
interface Machine { node: string; name: string }

export function Machines({ schedule: one }: { schedule: Schedule }) {
  const [open, setOpen] = useState(false);
  const mesh = useAsk("mesh.show", {});
  const isHeld = one.held_by != null;
  // What waits for files or a hook of this machine is seen by no other.
  const canChange = mesh.data?.on === true && mesh.data.node !== null && (one.waits_for === null || isHeld);
  if (!isHeld && !canChange) return null;
  return (
    <>
      {one.held_by != null && <p><Words of={heldBy(one.held_by)} /></p>}
      {one.held_by?.is_cut_off === true && <p role="status">Waits here: no other machine can be reached, so this one begins nothing of it until a relay or another machine is connected. <Link to="/machines">See which ways are tried</Link></p>}
      {canChange && !open && <div><Button look="link" onClick={() => setOpen(true)}>{isHeld ? "Change which machines run it" : "Let other machines run it"}</Button></div>}
      {open && mesh.data !== undefined && <Known schedule={one} mesh={mesh.data} close={() => setOpen(false)} />}
    </>
  );
}

function Known({ schedule, mesh, close }: { schedule: Schedule; mesh: Mesh; close: () => void }) {
  const asked = useAsk("mesh.nodes", {});
  return (
    <Answer asked={asked} what="machines" lines={2}>
      {(found) => <Change schedule={schedule} all={machines(mesh, found.nodes)} close={close} />}
    </Answer>
  );
}

/** This machine, and each that is paired with it. */
function machines(mesh: Mesh, nodes: readonly Node[]): Machine[] {
  const others = nodes.filter((node) => !node.is_withdrawn).map((node) => ({ node: node.node, name: nodeName(node) }));
  return [{ node: mesh.node ?? "", name: mesh.name ?? "This machine" }, ...others];
}

function Change({ schedule: one, all, close }: { schedule: Schedule; all: readonly Machine[]; close: () => void }) {
  const hold = useAct("mesh.hold");
  const held = one.held_by?.nodes ?? [];
  const [chosen, setChosen] = useState<readonly Machine[]>(() => {
    const known = held.flatMap((name) => all.find((machine) => machine.name === name) ?? []);
    return known.length === 0 ? all.slice(0, 1) : known;
  });
  const [term, setTerm] = useState("");
  const others = all.filter((machine) => !chosen.some(({ node }) => node === machine.node));
  const minutes = term.trim() === "" ? null : Number(term);
  const isTerm = minutes === null || (Number.isInteger(minutes) && minutes >= TERM.least && minutes <= TERM.most);
  const because = hold.isPending ? "Saving"
    : !chosen.some(({ node }) => node === all[0]?.node) ? "This machine has to be among them"
    : chosen.length < 2 ? "Add another machine"
    : !isTerm ? `Give a whole number of minutes, from ${TERM.least} to ${TERM.most}`
    : null;
  const set = (nodes: readonly Machine[]) => hold.mutate({ schedule: one.name, nodes: nodes.map(({ node }) => node), term_minutes: nodes.length === 0 ? null : minutes }, { onSuccess: close });
  const up = (at: number) => setChosen((now) => {
    const [first, second] = [now[at - 1], now[at]];
    return first === undefined || second === undefined ? now : [...now.slice(0, at - 1), second, first, ...now.slice(at + 1)];
  });
  return (
    <div className={styles.machines} role="group" aria-label={`Machines that run ${one.name}`}>
      <p className={styles.read}>The first machine in this list runs it. When that one is silent for too long, the next one takes over. Make the same schedule on each of them: a machine without it is passed over.</p>
      <ol className={styles.times} aria-label="Machines, in this order">
        {chosen.map((machine, at) => (
          <li key={machine.node}>
            <Words of={machine.name} />{machine.node === all[0]?.node && " (this machine)"}
            {at > 0 && <> <Button look="link" onClick={() => up(at)}>Move <Words of={machine.name} /> up</Button></>}
            {machine.node !== all[0]?.node && <> <Button look="link" onClick={() => setChosen(chosen.filter(({ node }) => node !== machine.node))}>Leave out <Words of={machine.name} /></Button></>}
          </li>
        ))}
      </ol>
      {all.length === 1 && <p className={styles.read}>No other machine is paired with this one yet.</p>}
      {others.length > 0 && (
        <Select
          label="Add a machine" value="" options={[{ value: "", label: "Choose a machine" }, ...others.map(({ node, name }) => ({ value: node, label: name }))]}
          onChange={(event) => setChosen([...chosen, ...others.filter(({ node }) => node === event.target.value)])}
        />
      )}
      <TextField label="Minutes of silence until the next one takes over" inputMode="numeric" value={term} placeholder={String(TERM.usual)} hint={`${TERM.usual} where nothing is said.`} onChange={(event) => setTerm(event.target.value)} />
      <div className={styles.buttons}>
        <Button because={because} onClick={() => set(chosen)}>Save the machines</Button>
        {held.length > 0 && <Button because={hold.isPending ? "Saving" : null} onClick={() => set([])}>Run it on this machine alone</Button>}
        <Button look="link" onClick={close}>Cancel</Button>
      </div>
      {because !== null && !hold.isPending && <p className={styles.read}>{because}.</p>}
      {hold.error !== null && <Failed error={hold.error} />}
    </div>
  );
}
