// Whose a conversation is: the machine that has it works on what is said there. It passes to another one here, or is taken from one
// that does not answer.
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Message } from "~/ipc/generated/mesh";
import { Button } from "~/primitives/Button";
import { Select } from "~/primitives/Field";
import { Answer, Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import styles from "./Mesh.module.css";
import { useSaying } from "./Person";
import { nodeName } from "./words";

/** Of a conversation on another machine: it is taken. */
export function Take({ message, close }: { message: Message; close: () => void }) {
  const take = useSaying("mesh.take");
  const name = nodeName(message);
  return (
    <div className={styles.inner} role="group" aria-label={`Take the conversation from ${name}`}>
      <p>This conversation was sent to <Words of={name} />. If that machine does not answer and will not, take it: what is said in it from then on is worked on here. What <Words of={name} /> still writes to it is kept aside there, and is not used.</p>
      {take.field}
      <div className={styles.buttons}>
        <Button because={take.isPending ? "Taking it" : take.missing} onClick={() => take.give({ conversation: message.conversation })}>Take the conversation</Button>
        <Button look="link" onClick={close}>Leave it there</Button>
      </div>
      {take.error !== null && <Failed error={take.error} />}
      {take.answer !== undefined && <Said tone="done">It is on <Words of={take.answer.name} /> from now on.</Said>}
    </div>
  );
}

/** Of a conversation on this machine: another one continues it. */
export function PassOn({ message, close }: { message: Message; close: () => void }) {
  const asked = useAsk("mesh.nodes", {});
  const pass = useSaying("mesh.hand_over");
  const [chosen, setChosen] = useState("");
  return (
    <div className={styles.inner} role="group" aria-label="Pass the conversation to another machine">
      <p>The machine that you choose continues this conversation, in a folder of its own. Nothing is said in it here any more.</p>
      <Answer asked={asked} what="machines" lines={1}>
        {({ nodes }) => {
          const open = nodes.filter((one) => !one.is_withdrawn);
          const to = open.find((one) => one.node === chosen) ?? open[0];
          return (
            <>
              <Select label="Machine" value={to?.node ?? ""} options={open.map((one) => ({ value: one.node, label: nodeName(one) }))} onChange={(event) => setChosen(event.target.value)} />
              {pass.field}
              <div className={styles.buttons}>
                <Button because={to === undefined ? "There is no other machine" : pass.isPending ? "Passing it" : pass.missing} onClick={() => to !== undefined && pass.give({ conversation: message.conversation, to: to.node })}>Pass the conversation</Button>
                <Button look="link" onClick={close}>Keep it here</Button>
              </div>
            </>
          );
        }}
      </Answer>
      {pass.error !== null && <Failed error={pass.error} />}
      {pass.answer !== undefined && <Said tone="note">It is on its way to <Words of={pass.answer.name} />, which has it once that machine has opened it.</Said>}
    </div>
  );
}
