// What every screen has: its name, one sentence, what finds everything, and the theme.
import type { ReactNode } from "react";
import { Icon } from "~/primitives/Icon";
import { Button } from "~/primitives/Button";
import { Key } from "~/primitives/Tag";
import { askHalt, openPalette } from "./commands";
import { toggleTheme } from "./theme";
import styles from "./Screen.module.css";

const MAC = /mac/i.test(globalThis.navigator?.platform ?? "");

export function Screen({
  title,
  under,
  sub,
  actions,
  children,
}: {
  title: ReactNode;
  /** Where this lies, such as the list it came from. */
  under?: ReactNode;
  sub?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <main className={styles.main} id="main" tabIndex={-1}>
      <header className={styles.bar}>
        {under}
        <h1 className={styles.title}>{title}</h1>
        <div className={styles.sub}>{sub}</div>
        {actions}
        <button type="button" className={styles.find} onClick={openPalette}>
          <Icon name="find" size={14} />
          <span>Find or do</span>
          <Key>{MAC ? "⌘ K" : "Ctrl K"}</Key>
        </button>
        <Button look="quiet" icon="stop" className={styles.halt} aria-label="Halt all work" onClick={askHalt} />
        <Button look="quiet" icon="theme" aria-label="Change theme" onClick={toggleTheme} />
      </header>
      <div className={styles.body}>{children}</div>
    </main>
  );
}
