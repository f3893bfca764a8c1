import { useRef, useState } from "react";
import { Icon } from "./Icon";
import styles from "./Hash.module.css";

/** Eight characters and the last four; identifiers keep their prefix. Short ones stay whole. */
function shortened(text: string): string {
  const bare = text.replace(/^sha256:/, "");
  const cut = bare.indexOf("_");
  const prefix = cut > 0 && cut < 8 ? bare.slice(0, cut + 1) : "";
  const rest = bare.slice(prefix.length);
  if (rest.length <= 14) return bare;
  // The first part of an identifier is time: its end tells two apart.
  return prefix === "" ? `${rest.slice(0, 8)}…${rest.slice(-4)}` : `${prefix}…${rest.slice(-6)}`;
}

/** A digest or identifier: short to read, whole on hover and focus, copied by its button. "None" where there is none. */
export function Hash({ of, what = "digest" }: { of: string; what?: string }) {
  const [said, setSaid] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(of);
      setSaid("copied");
    } catch {
      setSaid("this window may not copy");
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(""), 1600);
  };
  if (of === "") return <>None</>;
  return (
    <span className={styles.hash} title={of}>
      <code>{shortened(of)}</code>
      <button type="button" onClick={copy} aria-label={`Copy ${what} ${of}`}>
        <Icon name={said === "copied" ? "ok" : "copy"} size={12} />
      </button>
      <span className="visually-hidden" role="status">{said}</span>
    </span>
  );
}
