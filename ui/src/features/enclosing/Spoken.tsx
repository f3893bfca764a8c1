// Words of a field that is no draft: they are typed or spoken, and sent with the mark that some of them were spoken.
import { useState } from "react";
import styles from "./Enclosing.module.css";

/** The words of such a field, and how they come there. With the last of its words the mark is gone. */
export function useSpokenWords(first = "") {
  const [words, set] = useState({ text: first, isSpoken: false });
  return {
    ...words,
    typed: (text: string) => set((now) => ({ text, isSpoken: now.isSpoken && text.trim() !== "" })),
    spoken: (text: string) => set({ text, isSpoken: true }),
    /** Begins anew, with these words. */
    anew: (text: string) => set({ text, isSpoken: false }),
    /** What a command is told of it. */
    mark: words.isSpoken ? { spoken: true } : {},
  };
}

/** Says that the words of the field are marked. */
export function Marked({ isSpoken }: { isSpoken: boolean }) {
  return isSpoken ? <p className={styles.why}>Marked as spoken: read it through before you send it.</p> : null;
}
