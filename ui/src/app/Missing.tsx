import { Link } from "@tanstack/react-router";
import { Button } from "~/primitives/Button";
import { Empty } from "~/primitives/States";
import { Screen } from "~/screen/Screen";

export function Missing() {
  return (
    <Screen title="Unknown address">
      <Empty title="There is nothing at this address">
        <Link to="/">To the inbox</Link>
      </Empty>
    </Screen>
  );
}

/** A fault of this window. The store and the work are somewhere else and do not notice. */
export function Broken({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <Empty title="This screen broke" todo>
      Nothing was lost: the work goes on in the host. The window says: {error instanceof Error ? error.message : String(error)}
      <Button look="person" loose onClick={reset}>Show it again</Button>
      <Link to="/">To the inbox</Link>
    </Empty>
  );
}
