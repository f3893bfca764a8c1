import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Icon, type IconName } from "./Icon";
import styles from "./Button.module.css";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** One `person` button at most stands on a screen: it is what you can do next. */
  look?: "plain" | "person" | "quiet" | "link" | "danger";
  icon?: IconName;
  /** Why it cannot be pressed; it then stays reachable and says so. */
  because?: string | null | undefined;
  loose?: boolean;
  ref?: Ref<HTMLButtonElement>;
  children?: ReactNode;
}

export function Button({ look = "plain", icon, because, loose, children, className, onClick, ...rest }: Props) {
  const off = because !== undefined && because !== null && because !== "";
  return (
    <button
      type="button"
      {...rest}
      className={[styles.button, className].filter(Boolean).join(" ")}
      data-look={look}
      data-loose={loose || undefined}
      data-bare={children === undefined || undefined}
      aria-disabled={off || undefined}
      title={off ? because : rest.title}
      onClick={off ? (event) => event.preventDefault() : onClick}
    >
      {icon !== undefined && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

/** One of a few, all in sight. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly { value: T; label: ReactNode; because?: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <div className={styles.segmented} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          aria-disabled={option.because !== undefined || undefined}
          title={option.because}
          onClick={() => option.because === undefined && onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
