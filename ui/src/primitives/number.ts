// Made once: `toLocaleString` makes one anew for each number.
const NUMBER = new Intl.NumberFormat("en");

/** A number with its thousands apart. */
export function many(n: number): string {
  return NUMBER.format(n);
}

/** A whole number from 1 to `max`, as a person types it; null while it is none. */
export function wholeUpTo(text: string, max: number): number | null {
  const number = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return number >= 1 && number <= max ? number : null;
}
