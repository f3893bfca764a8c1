// The keyboard map: one list, from which the keys, the palette and the help are made.
import type { IconName } from "~/primitives/Icon";

export interface Go {
  path: string;
  label: string;
  icon: IconName;
  keys: string;
  /** Its name where there is little room. */
  short?: string;
  /** Whether there is no room for it on a phone, where another place leads to it. */
  isWide?: true;
}

/** Places, in the order of the rail. `g` and then the letter goes there. */
export const PLACES: readonly Go[] = [
  { path: "/", label: "Inbox", icon: "inbox", keys: "g i" },
  { path: "/conversations", label: "Conversations", icon: "talk", keys: "g c", short: "Talk" },
  { path: "/tasks", label: "Tasks", icon: "task", keys: "g t" },
  { path: "/schedules", label: "Schedules", icon: "clock", keys: "g h", isWide: true },
  { path: "/gateways", label: "Gateways", icon: "network", keys: "g w", isWide: true },
  { path: "/lineage", label: "Lineage", icon: "lineage", keys: "g l" },
  { path: "/knowledge", label: "Knowledge", icon: "knowledge", keys: "g k" },
  { path: "/policy", label: "Policy", icon: "policy", keys: "g p" },
  { path: "/tools", label: "Tools", icon: "chip", keys: "g m" },
  { path: "/proof", label: "Proof", icon: "proof", keys: "g o" },
  { path: "/anchors", label: "Anchors", icon: "anchor", keys: "g a", isWide: true },
  { path: "/machines", label: "Machines", icon: "machines", keys: "g n", isWide: true },
  { path: "/successor", label: "Changes", icon: "retry", keys: "g e", isWide: true },
  { path: "/training", label: "Training", icon: "chip", keys: "g r", isWide: true },
  { path: "/identity", label: "Identity", icon: "identity", keys: "g d", isWide: true },
  { path: "/settings", label: "Settings", icon: "settings", keys: "g s" },
];

/** The bar of a phone: what waits, what is said, what works, what will, and the way to the rest. */
export const PHONE_PLACES: readonly Go[] = [
  ...PLACES.slice(0, 4),
  { path: "/more", label: "More", icon: "more", keys: "" },
];

/** What the bar of a phone has no room for. */
export function elsewhereOnPhones(): readonly Go[] {
  return PLACES.filter((place) => !PHONE_PLACES.includes(place));
}

export const OTHER_KEYS: readonly { keys: string; does: string }[] = [
  { keys: "Ctrl K", does: "Find or do anything" },
  { keys: "n", does: "New task" },
  { keys: "j", does: "Next in a list" },
  { keys: "k", does: "Previous in a list" },
  { keys: "x", does: "Choose an approval in the inbox, to deny several" },
  { keys: "m", does: "Write in a conversation; Enter sends, Shift and Enter begins a line" },
  { keys: "d", does: "Go to Deny; Enter then denies" },
  { keys: "/", does: "Find in a task's timeline" },
  { keys: "Enter", does: "Open what is chosen; never approves" },
  { keys: "?", does: "This list" },
];

const PALETTE = "hermit:palette";

export function openPalette(): void {
  document.dispatchEvent(new CustomEvent(PALETTE));
}

export function onPalette(heard: () => void): () => void {
  document.addEventListener(PALETTE, heard);
  return () => document.removeEventListener(PALETTE, heard);
}

const HALT = "hermit:halt";

/** Asks a person whether all work is to stop. */
export function askHalt(): void {
  document.dispatchEvent(new CustomEvent(HALT));
}

export function onHalt(heard: () => void): () => void {
  document.addEventListener(HALT, heard);
  return () => document.removeEventListener(HALT, heard);
}

/** Whether keys belong to a field at this moment. */
export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !/^(checkbox|radio|button|submit)$/.test(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));
}
