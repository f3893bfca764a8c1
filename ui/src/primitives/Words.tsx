// Text that came from somewhere else. Characters that would not show, or would reorder what is read, are shown as
// their code points, in the order of the file.
import { Fragment } from "react";
import styles from "./Words.module.css";

/** C0 and C1 controls but line breaks and tabs; soft hyphen; bidi; zero width; invisible and tag characters. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** What `governance` writes where it has made a character visible already. */
const WRITTEN = /[\u27e8<]U\+([0-9A-F]{4,6})[\u27e9>]/g;

const EITHER = new RegExp(`${HIDDEN.source}|${WRITTEN.source}`, "gu");

export function hiddenIn(text: string): string[] {
  return (text.match(HIDDEN) ?? []).map(pointOf);
}

function pointOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

export function Words({ of }: { of: string }) {
  const parts: { text: string; point?: string }[] = [];
  let end = 0;
  for (const found of of.matchAll(EITHER)) {
    if (found.index > end) parts.push({ text: of.slice(end, found.index) });
    const written = found[1];
    parts.push({ text: found[0], point: written === undefined ? pointOf(found[0]) : `U+${written}` });
    end = found.index + found[0].length;
  }
  if (parts.length === 0) return <>{of}</>;
  if (end < of.length) parts.push({ text: of.slice(end) });
  return (
    <>
      {parts.map((part, at) =>
        part.point === undefined ? (
          <Fragment key={at}>{part.text}</Fragment>
        ) : (
          <span key={at} className={styles.point} title="a character that would not show">{part.point}</span>
        ),
      )}
    </>
  );
}

/** Words in which what stands in backticks is code. */
export function Prose({ of }: { of: string }) {
  return (
    <>
      {of.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}><Words of={part} /></code> : <Words key={at} of={part} />))}
    </>
  );
}
