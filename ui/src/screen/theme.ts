// Light or dark as the system says, until a person says otherwise; kept on this device only.
const KEY = "hermit.theme";
export type Theme = "system" | "light" | "dark";
export type Contrast = "system" | "more" | "standard";

export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function contrast(): Contrast {
  const kept = localStorage.getItem(`${KEY}.contrast`);
  return kept === "more" || kept === "standard" ? kept : "system";
}

export function applyTheme(): void {
  const root = document.documentElement;
  const chosen = theme();
  if (chosen === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = chosen;
  const wanted = contrast();
  if (wanted === "system") delete root.dataset["contrast"];
  else root.dataset["contrast"] = wanted;
}

export function setTheme(next: Theme): void {
  if (next === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  applyTheme();
}

export function setContrast(next: Contrast): void {
  if (next === "system") localStorage.removeItem(`${KEY}.contrast`);
  else localStorage.setItem(`${KEY}.contrast`, next);
  applyTheme();
}

export function toggleTheme(): void {
  const chosen = theme();
  const dark = chosen === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
  setTheme(dark ? "light" : "dark");
}
