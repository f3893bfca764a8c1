// Who this instance is: SOUL.md in a person's words, the key that signs it, and the chain of what was signed.
import { useAsk } from "~/ipc/client";
import { Answer } from "~/primitives/States";
import { Screen } from "~/screen/Screen";
import { Chain } from "./Chain";
import styles from "./Identity.module.css";
import { Key } from "./Key";
import { Soul } from "./Soul";

export function Identity() {
  const asked = useAsk("identity.show", {}, { keep: true });
  return (
    <Screen title="Identity" sub={<span>Who this instance is, in your words, and what its key signed</span>}>
      <Answer asked={asked} what="the identity" lines={10}>
        {(found) => (
          <div className={styles.two}>
            <div>
              <Soul of={found} />
            </div>
            <div>
              <Key of={found} />
              <Chain graph={found.graph} />
            </div>
          </div>
        )}
      </Answer>
    </Screen>
  );
}
