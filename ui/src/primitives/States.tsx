// What every list and screen can be: loading, empty, refused, failed, stale, done.
import { type ReactNode, useDeferredValue } from "react";
import { Button } from "./Button";
import { Icon, Mark } from "./Icon";
import { Arcs } from "./Shell";
import styles from "./States.module.css";
import { Words } from "./Words";

/** What a screen needs to know about a question it asked. */
interface Asked<T> {
  data: T | undefined;
  error: { code?: string; message: string; hint?: string } | null;
  isPending: boolean;
  isFetching: boolean;
  refetch: () => unknown;
}

/** Codes with which Hermit says no on purpose; trying again changes nothing. */
const REFUSALS = new Set(["refused", "forbidden", "halted", "key_locked", "unauthorised", "no_host", "held"]);

export function Answer<T>({
  asked,
  what,
  lines = 6,
  large = false,
  isEmpty,
  empty,
  children,
}: {
  asked: Asked<T>;
  /** The noun that is waited for. */
  what: string;
  lines?: number;
  /** Whether it may be thousands of rows: the first answer is then drawn in the background, in small parts. */
  large?: boolean;
  isEmpty?: (data: T) => boolean;
  empty?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  const { error } = asked;
  // Only what is large: a small answer that comes a moment later than the rest moves what a person is about to press.
  const isThere = asked.data !== undefined;
  const isDrawn = useDeferredValue(isThere);
  const data = isDrawn || !large ? asked.data : undefined;
  if (data === undefined) {
    if (error !== null && asked.data === undefined) return <Trouble error={error} what={what} again={() => asked.refetch()} />;
    return <Loading what={what} lines={lines} />;
  }
  return (
    <>
      {error !== null && (
        <p className={styles.stale} role="status">
          <Mark name="unknown" /> This may be old: {error.message}.
          <Button look="link" onClick={() => asked.refetch()}>Try again</Button>
        </p>
      )}
      {isEmpty?.(data) === true ? empty : children(data)}
    </>
  );
}

/** Lines that stand still: nothing moves unless the machine does. */
export function Loading({ what, lines = 6 }: { what: string; lines?: number }) {
  return (
    <div className={styles.loading} role="status" aria-label={`Reading ${what}`}>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} style={{ width: `${[72, 54, 63, 40, 58, 47][at % 6] ?? 50}%` }} />
      ))}
    </div>
  );
}

export function Trouble({
  error,
  what,
  again,
}: {
  error: { code?: string; message: string; hint?: string };
  what: string;
  again?: () => void;
}) {
  const refused = REFUSALS.has(error.code ?? "");
  return (
    <div className={styles.trouble} data-kind={refused ? "refused" : "failed"} role="alert">
      <Mark name={refused ? "deny" : "failed"} size={14} />
      <div>
        <strong>{refused ? `Hermit refuses to show ${what}` : `Reading ${what} failed`}</strong>
        <p>{sentence(error.message)}</p>
        {error.hint !== undefined && error.hint !== "" && <p className={styles.hint}>{sentence(error.hint)}</p>}
        {again !== undefined && !refused && <Button onClick={again} icon="retry">Try again</Button>}
      </div>
    </div>
  );
}

/** A sentence that begins and ends like one; words in backticks as code. Others' words may stand in it: what would not show is shown. */
export function sentence(text: string): ReactNode {
  const whole = text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?:]$/.test(text) ? "" : ".");
  return whole.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}><Words of={part} /></code> : <Words key={at} of={part} />));
}

export function Empty({ title, children, todo = false, small = false }: {
  title: string;
  children?: ReactNode;
  /** Whether there is something to do: only then the dot stands in the gap. */
  todo?: boolean;
  small?: boolean;
}) {
  return (
    <div className={styles.empty} data-small={small || undefined}>
      <Arcs size={small ? 72 : 128} person={todo} />
      <h2>{title}</h2>
      {children !== undefined && <div className={styles.say}>{children}</div>}
    </div>
  );
}

/** What a thing came to, in place: never a toast. */
export function Said({ tone, children }: { tone: "done" | "failed" | "note"; children: ReactNode }) {
  return (
    <p className={styles.said} data-tone={tone} role={tone === "failed" ? "alert" : "status"}>
      <Icon name={tone === "done" ? "ok" : tone === "failed" ? "cross" : "eye"} size={14} />
      <span>{children}</span>
    </p>
  );
}

/** Why an act did not work and what to do, in the host's words. */
export function Failed({ error }: { error: { message: string; hint?: string } }) {
  return (
    <Said tone="failed">
      {sentence(error.message)}{error.hint !== undefined && error.hint !== "" && <> {sentence(error.hint)}</>}
    </Said>
  );
}
