// Made once: `toLocaleString` makes one anew for each number.
const NUMBER = new Intl.NumberFormat("en");

/** A number with its thousands apart. */
export function many(n: number): string {
  return NUMBER.format(n);
}
