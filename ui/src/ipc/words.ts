// Words of closed lists. Rust owns the lists (`generated/words.ts`, `generated/events.ts`): a value that is added there
// is a type error wherever these pages tell values apart. A host that is newer than this page may still send one.

/** A word that came as anything, where it is one of the list. */
export function oneOf<const W extends string>(list: readonly W[], value: unknown): W | null {
  return list.find((word) => word === value) ?? null;
}

/** What a table, which has every word of its list, says of a word; `other` where a newer host sent a word of its own. */
export function lookUp<W extends string, T>(table: Readonly<Record<W, T>>, word: W, other: T): T {
  return Object.hasOwn(table, word) ? table[word] : other;
}
