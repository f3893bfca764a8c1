import { type ComponentPropsWithRef, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from "react";
import { Icon } from "./Icon";
import { wordsAsText } from "./Words";
import styles from "./Field.module.css";

interface Labelled { label: string; hint?: ReactNode; hideLabel?: boolean; error?: string | null }

function Around({ id, label, hint, hideLabel, error, children }: Labelled & { id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={hideLabel ? "visually-hidden" : styles.label}>{label}</label>
      {children}
      {hint !== undefined && <p id={`${id}-hint`} className={styles.hint}>{hint}</p>}
      {error !== undefined && error !== null && <p className={styles.error} role="alert">{error}</p>}
    </div>
  );
}

export function TextField({ label, hint, hideLabel, error, mono, ...rest }: Labelled & { mono?: boolean } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <Around id={id} label={label} hint={hint} hideLabel={hideLabel} error={error}>
      <input {...rest} id={id} className={styles.control} data-mono={mono || undefined} aria-describedby={hint === undefined ? undefined : `${id}-hint`} />
    </Around>
  );
}

export function TextArea({ label, hint, hideLabel, error, ...rest }: Labelled & ComponentPropsWithRef<"textarea">) {
  const id = useId();
  return (
    <Around id={id} label={label} hint={hint} hideLabel={hideLabel} error={error}>
      <textarea {...rest} id={id} className={styles.control} aria-describedby={hint === undefined ? undefined : `${id}-hint`} />
    </Around>
  );
}

export function Select({ label, hint, hideLabel, error, options, ...rest }: Labelled & { options: readonly { value: string; label: string }[] } & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  return (
    <Around id={id} label={label} hint={hint} hideLabel={hideLabel} error={error}>
      <span className={styles.select}>
        <select {...rest} id={id} className={styles.control}>
          {options.map((option) => <option key={option.value} value={option.value}>{wordsAsText(option.label)}</option>)}
        </select>
        <Icon name="down" size={12} />
      </span>
    </Around>
  );
}

export function Check({ label, ...rest }: { label: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className={styles.check}>
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  );
}
