// Machines: those of this person that are paired, what they say to each other, and how far each message came. Nothing of it runs
// until a person turns it on.
import { useAsk } from "~/ipc/client";
import { Answer } from "~/primitives/States";
import { Screen } from "~/screen/Screen";
import { Alerts } from "./Alerts";
import { Carry } from "./Carry";
import styles from "./Mesh.module.css";
import { Messages } from "./Messages";
import { Nodes } from "./Nodes";
import { Pair } from "./Pair";
import { Questions } from "./Questions";
import { Receipts } from "./Receipts";
import { ThisMachine } from "./ThisMachine";
import { Ways } from "./Ways";

/** How often it is asked which ways are open: no notice tells of that. */
const AGAIN_MS = 5_000;

export function Machines() {
  const asked = useAsk("mesh.show", {}, { refetchInterval: ({ state }) => (state.data?.on === true ? AGAIN_MS : false) });
  return (
    <Screen title="Machines" sub={<span>Your other machines: goals, answers and approvals between them</span>}>
      <Answer asked={asked} what="your machines" lines={10}>
        {(mesh) => (
          <div className={styles.two}>
            <div>
              <Alerts alerts={mesh.alerts} />
              {mesh.on ? <><Questions /><Nodes mesh={mesh} /></> : <Off wasOn={mesh.node !== null} />}
              {mesh.node !== null && <><Messages isOn={mesh.on} /><Receipts /></>}
            </div>
            <div>
              {mesh.on && <Pair mesh={mesh} />}
              <ThisMachine mesh={mesh} />
              {mesh.on && <><Ways mesh={mesh} /><Carry /></>}
            </div>
          </div>
        )}
      </Answer>
    </Screen>
  );
}

/** What it is, while it is off. */
function Off({ wasOn }: { wasOn: boolean }) {
  return (
    <section className={styles.section} aria-labelledby="off">
      <h2 id="off">{wasOn ? "The mesh is off" : "Your machines as one"}</h2>
      <p>{wasOn ? "Nothing is sent to your other machines and nothing of them is heard until you turn it on again." : "The mesh is off: this machine opens no connection for it, and no other machine hears of it."}</p>
      <ul className={styles.points}>
        <li>Turned on and paired with a code, a goal that you give on one machine runs on the one that has the folder, and its answer comes back.</li>
        <li>Each machine keeps its own policy, its own log and its own keys. A goal from another machine is asked about like any other.</li>
        <li>Messages travel over relays that you name, or directly on the same network, or in a file that you carry. They are encrypted for the machine they are for: a relay learns which machine’s key a message is for, when it was sent and roughly how large it is, and nothing of what it says.</li>
      </ul>
    </section>
  );
}
