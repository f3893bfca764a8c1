// Text that came from somewhere else. Characters that would not show, or would reorder what is read, are shown as
// their code points, in the order of the file.
import { Fragment, type ReactNode } from "react";
import { BLANK, HIDDEN } from "./hidden";
import styles from "./Words.module.css";

/** What cannot be seen, but for line breaks and tabs: texts have lines. */
const HIDDEN_IN_TEXT = new RegExp(`(?![\\n\\t])[${HIDDEN}]`, "gu");

/** What `governance` writes where it has made a character visible already. */
const WRITTEN = /[\u27e8<]U\+([0-9A-F]{4,6})[\u27e9>]/g;

const EITHER = new RegExp(`${HIDDEN_IN_TEXT.source}|${WRITTEN.source}`, "gu");

export function hiddenIn(text: string): string[] {
  return (text.match(HIDDEN_IN_TEXT) ?? []).map(pointOf);
}

function pointOf(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** What `Words` shows, as a text: for a place that takes no elements, such as an option of a list. */
export function wordsAsText(of: string): string {
  return of.replace(EITHER, (found, written: string | undefined) => `\u27e8${written === undefined ? pointOf(found) : `U+${written}`}\u27e9`);
}

/** A run of characters this long may not fit a narrow screen: it breaks where a path or a name has a joint, not within a word. */
const LONG = /[^\s]{25,}/gu;
const JOINT = /(?<=[/\\_.,:=-])(?=[^\s/\\_.,:=-])/u;

/** A text whose long names may break at their joints. */
function Broken({ of }: { of: string }) {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const run of of.matchAll(LONG)) {
    parts.push(of.slice(end, run.index));
    run[0].split(JOINT).forEach((piece, at) => { parts.push(at === 0 ? piece : <Fragment key={`${run.index}.${at}`}><wbr />{piece}</Fragment>); });
    end = run.index + run[0].length;
  }
  return end === 0 ? <>{of}</> : <>{parts}{of.slice(end)}</>;
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
  if (parts.length === 0) return <Broken of={of} />;
  if (end < of.length) parts.push({ text: of.slice(end) });
  return (
    <>
      {parts.map((part, at) =>
        part.point === undefined ? (
          <Broken key={at} of={part.text} />
        ) : (
          <span key={at} className={styles.point} title="a character that would not show">{part.point}</span>
        ),
      )}
    </>
  );
}

/** What `Words` lets through because texts have lines, blanks that are no space, and blanks at an edge: in a name each hides something. */
const ODD = new RegExp(`^[ ${BLANK}]+|[ ${BLANK}]+$|[\\t\\n${BLANK}]| {2,}`, "gu");

/** The name of a file or folder: besides what `Words` shows, line breaks, tabs and blanks that nobody would see. */
export function Name({ of }: { of: string }) {
  const parts: { text: string; isOdd: boolean }[] = [];
  let end = 0;
  for (const found of of.matchAll(ODD)) {
    if (found.index > end) parts.push({ text: of.slice(end, found.index), isOdd: false });
    parts.push({ text: found[0], isOdd: true });
    end = found.index + found[0].length;
  }
  if (parts.length === 0) return <Words of={of} />;
  if (end < of.length) parts.push({ text: of.slice(end), isOdd: false });
  return (
    <>
      {parts.map((part, at) => part.isOdd
        ? [...part.text].map((one, n) => <span key={`${at}.${n}`} className={styles.point} title="a character that would not show">{one === " " ? "space" : pointOf(one)}</span>)
        : <Words key={at} of={part.text} />)}
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
