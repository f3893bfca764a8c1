// Words of a person on single lines of a difference. They are kept on the page until the card is answered: a denial takes
// them along as its reason, each behind its file and line.
import { createContext, useContext, useState, useSyncExternalStore } from "react";
import { Button } from "./Button";
import { TextArea } from "./Field";
import { Words } from "./Words";
import styles from "./Diff.module.css";

/** Comments by their places, such as `notes.md:12`. Who draws a line hears of its own comment only. */
export class Comments {
  #all: ReadonlyMap<string, string> = new Map();
  #listeners = new Set<() => void>();
  all = () => this.#all;
  of = (place: string) => this.#all.get(place) ?? "";
  /** Empty words take a comment away. */
  set(place: string, words: string) {
    const after = new Map(this.#all);
    if (words === "") after.delete(place);
    else after.set(place, words);
    this.#all = after;
    for (const heard of this.#listeners) heard();
  }
  listen = (heard: () => void) => {
    this.#listeners.add(heard);
    return () => { this.#listeners.delete(heard); };
  };
}

/** Null where nothing can be commented on. */
export const CommentsOn = createContext<Comments | null>(null);

export function useComments(): Comments {
  const [comments] = useState(() => new Comments());
  return comments;
}

/** All comments; none where nothing can be commented on. */
function useAll(): ReadonlyMap<string, string> {
  const [none] = useState(() => new Comments());
  const comments = useContext(CommentsOn) ?? none;
  return useSyncExternalStore(comments.listen, comments.all);
}

/** What a model is told: every comment behind its place, then what is said of the whole; null where nothing is said. */
export function useReason(feedback: string): string | null {
  const each = [...useAll()].filter(([, words]) => words.trim() !== "").map(([place, words]) => `${place}: ${words.trim().replace(/\s*\n\s*/g, " ")}`);
  const all = [...each, feedback.trim()].filter((words) => words !== "");
  return all.length === 0 ? null : all.join("; ");
}

/** The comments that go along with a denial. */
export function CommentList() {
  const all = useAll();
  if (all.size === 0) return null;
  return (
    <ul className={styles.comments} aria-label="Comments the model will see">
      {[...all].map(([place, words]) => <li key={place}><code><Words of={place} /></code> <Words of={words} /></li>)}
    </ul>
  );
}

/** The comment on one line: being written, or as it stands. */
export function Comment({ on: comments, place, isOpen, open, close }: { on: Comments; place: string; isOpen: boolean; open: () => void; close: () => void }) {
  const words = useSyncExternalStore(comments.listen, () => comments.of(place));
  if (isOpen) return <Writing place={place} words={words} say={(said) => comments.set(place, said)} close={close} />;
  if (words === "") return null;
  return (
    <div className={styles.said}>
      <p><Words of={words} /></p>
      <Button look="link" aria-label={`Change the comment on ${place}`} onClick={open}>Change</Button>
      <Button look="link" aria-label={`Remove the comment on ${place}`} onClick={() => comments.set(place, "")}>Remove</Button>
    </div>
  );
}

/** Escape leaves it as it was. */
function Writing({ place, words, say, close }: { place: string; words: string; say: (said: string) => void; close: () => void }) {
  const [before] = useState(words);
  return (
    <div className={styles.said}>
      <TextArea
        label={`Comment on ${place}`} value={words} rows={2} autoFocus onChange={(event) => say(event.target.value)}
        onKeyDown={(event) => {
          const isDone = event.key === "Enter" && (event.ctrlKey || event.metaKey);
          if (event.key !== "Escape" && !isDone) return;
          event.stopPropagation();
          if (!isDone) say(before);
          close();
        }}
      />
      <Button onClick={close}>Done</Button>
    </div>
  );
}
