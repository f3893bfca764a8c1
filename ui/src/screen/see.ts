// What a page of a task can show beside its story, and how an address names it.

/** What a row, or an address, leads to. */
export type See =
  | { kind: "event"; seq: number }
  | { kind: "turn"; attempt: number; iteration: number }
  | { kind: "summary" | "action" | "approval" | "receipt"; id: string };

/** The same for the same thing. */
export function seeKey(see: See): string {
  switch (see.kind) {
    case "event":
      return `event ${see.seq}`;
    case "turn":
      return `turn ${see.attempt} ${see.iteration}`;
    default:
      return `${see.kind} ${see.id}`;
  }
}
