// Addresses of models that were typed and used, the last one first: kept by this browser, so that they are offered the next time.

const KEY = "hermit.models.used";
/** As many as are kept. */
const MOST = 5;
/** No address that is longer is kept. */
const LETTERS = 300;

const isKept = (one: unknown): one is string => typeof one === "string" && one !== "" && one.length <= LETTERS;

export function usedModels(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isKept).slice(0, MOST) : [];
  } catch {
    // Nothing is kept, or what is kept cannot be read.
    return [];
  }
}

export function keepUsedModel(address: string): void {
  if (!isKept(address)) return;
  try {
    localStorage.setItem(KEY, JSON.stringify([address, ...usedModels().filter((one) => one !== address)].slice(0, MOST)));
  } catch {
    // It is full, or keeps nothing: then the address is typed again.
  }
}
