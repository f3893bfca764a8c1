// A line of text, such as a command, with a button that copies it.
import { useState } from "react";
import { Button } from "./Button";
import styles from "./Copyable.module.css";

export function Copyable({ text }: { text: string }) {
  const [said, setSaid] = useState(false);
  return (
    <div className={styles.copy}>
      <code>{text}</code>
      <Button
        icon={said ? "ok" : "copy"}
        aria-label={`Copy ${text}`}
        onClick={() => void navigator.clipboard?.writeText(text).then(() => setSaid(true), () => setSaid(false))}
      >
        {said ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}
