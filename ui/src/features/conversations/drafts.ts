// What a person has begun to write in each conversation, kept by this browser until it was sent, whatever happens to the page.
import { useCallback, useState } from "react";

const KEY = "hermit.draft.";
/** A message takes no more; a longer draft is kept by the page alone. */
const KEPT_MAX = 65_536;

function read(conversation: string): string {
  try {
    return localStorage.getItem(KEY + conversation) ?? "";
  } catch {
    return "";
  }
}

/** The draft of a conversation, and what sets it. */
export function useDraftOf(conversation: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => read(conversation));
  const set = useCallback((next: string) => {
    setText(next);
    try {
      if (next === "" || next.length > KEPT_MAX) localStorage.removeItem(KEY + conversation);
      else localStorage.setItem(KEY + conversation, next);
    } catch {
      // A browser that keeps nothing: the draft lives as long as the page.
    }
  }, [conversation]);
  return [text, set];
}
