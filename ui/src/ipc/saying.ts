// Words of an answer while they come. Each piece says which asking it answers and where it stands there, so what the host had
// of it and what was heard since are one text, each piece once, and words of two askings never are. Never truth.

/** Words of one asking, from a place on; places are counted as strings are here. */
export interface Said { asking: number; from: number; text: string }

const endOf = (said: Said) => said.from + said.text.length;

/** Two views of what is being said, as one: what the host had when it was asked, and what was heard since. */
export function whole(told: Said | null, heard: Said | null): Said | null {
  if (told === null || heard === null) return told ?? heard;
  if (told.asking !== heard.asking) return told.asking > heard.asking ? told : heard;
  const [first, second] = told.from <= heard.from ? [told, heard] : [heard, told];
  if (endOf(second) <= endOf(first)) return first;
  // Where something between them was lost, only what follows it is one text.
  if (second.from > endOf(first)) return second;
  return { ...first, text: first.text + second.text.slice(endOf(first) - second.from) };
}

/** For a person: what lacks its beginning says so. */
export const shown = (said: Said | null) => (said === null ? "" : said.from > 0 ? `… ${said.text}` : said.text);

/** What a page hears said, by task. */
export class Sayings {
  #heard = new Map<string, Said>();
  /** The last asking of a task whose answer is over. */
  #over = new Map<string, number>();
  #listeners = new Set<() => void>();

  /** A piece came; whether something before it was not heard here. */
  hear(task: string, piece: Said): boolean {
    const before = this.of(task);
    // Who goes on was not at its end.
    if (this.#over.get(task) === piece.asking) this.#over.delete(task);
    const follows = before !== null && before.asking === piece.asking && piece.from <= endOf(before);
    this.#heard.set(task, follows ? (whole(before, piece) ?? piece) : piece);
    this.#tell();
    return !follows && piece.from > 0;
  }

  of = (task: string): Said | null => this.#heard.get(task) ?? null;

  /** What the host told, unless it tells of an answer that is over by now. */
  still(task: string, told: Said | null): Said | null {
    return told !== null && told.asking > (this.#over.get(task) ?? 0) ? told : null;
  }

  /** Its answer is over. */
  end(task: string): void {
    const heard = this.of(task);
    if (heard === null) return;
    this.#over.set(task, heard.asking);
    this.#heard.delete(task);
    this.#tell();
  }

  /** What was heard may be of a host that is gone, or lack something: the host is asked. */
  forget(): void {
    this.#heard.clear();
    this.#over.clear();
    this.#tell();
  }

  listen = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #tell() {
    for (const listener of this.#listeners) listener();
  }
}
