// Whether this is a page on a phone: no wider than one, whatever holds it.
import { useSyncExternalStore } from "react";

const PHONE = "(max-width: 480px)";

function heed(heard: () => void): () => void {
  const query = matchMedia(PHONE);
  query.addEventListener("change", heard);
  return () => query.removeEventListener("change", heard);
}

export function usePhone(): boolean {
  return useSyncExternalStore(heed, () => matchMedia(PHONE).matches);
}
