// Training: what a small model would learn of finished work, the run in hand with its loss, and what came of each.
import { useAsk } from "~/ipc/client";
import { Answer } from "~/primitives/States";
import { Screen } from "~/screen/Screen";
import { Curate } from "./Curate";
import { InHand } from "./InHand";
import { Recall } from "./Recall";
import { Runs } from "./Runs";
import styles from "./Training.module.css";

export function Training() {
  const asked = useAsk("training.list", {}, { keep: true });
  return (
    <Screen title="Training" sub={<span>A small model learns from your finished work, on this machine</span>}>
      <Answer asked={asked} what="training" lines={8}>
        {(all) => (
          <div className={styles.two}>
            <div>
              <InHand dataset={all.datasets.find((one) => !one.gone) ?? null} />
              <Runs of={all} />
            </div>
            <div>
              <Curate />
              <Recall of={all} />
            </div>
          </div>
        )}
      </Answer>
    </Screen>
  );
}
