// Whose work a change set is, where the agent of another program made it on its copy, and what of it the agent did not tell.
import { count } from "~/screen/words";
import { Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Name, Words } from "~/primitives/Words";
import { readable } from "./files";
import type { Guest } from "./packet";
import styles from "./Card.module.css";

/** Places that are named; the others are counted, and all stand among the values that are signed. */
const NAMED = 20;

export function GuestWork({ of }: { of: Guest }) {
  const untold = of.untold.length;
  return (
    <section className={styles.ran} aria-label="Whose work this is">
      <p><span>The agent <b><Words of={of.name} /></b> made this on a copy of the folder. Your folder is untouched; if you approve, exactly this is copied over.</span></p>
      {of.error !== "" && <p data-tone="grave"><Mark name="failed" /><span>Its turn was no success: <Words of={of.error} /></span></p>}
      {!of.tells && <p><Mark name="low" /><span>It tells nothing of what it changes: what is listed is what its copy shows.</span></p>}
      {of.tells && untold === 0 && <p><Mark name="low" /><span>It told of every place that its copy shows as changed.</span></p>}
      {of.tells && untold > 0 && (
        <p data-tone="grave">
          <Mark name="high" />
          <span>
            It did not tell of {count(untold, "place")}:{" "}
            {of.untold.slice(0, NAMED).map((path, at) => <span key={path}>{at > 0 && ", "}<code><Name of={readable(path)} /></code></span>)}
            {untold > NAMED && ` and ${many(untold - NAMED)} more`}
          </span>
        </p>
      )}
      {of.differs.length > 0 && (
        <p data-tone="grave">
          <Mark name="high" />
          <span>
            It told of other bytes than its copy holds, in {count(of.differs.length, "place")}:{" "}
            {of.differs.slice(0, NAMED).map((path, at) => <span key={path}>{at > 0 && ", "}<code><Name of={readable(path)} /></code></span>)}
            {of.differs.length > NAMED && ` and ${many(of.differs.length - NAMED)} more`}
          </span>
        </p>
      )}
    </section>
  );
}
