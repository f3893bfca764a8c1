// Words of an agent and of what failed, as a person reads them.
import type { Origin, TrustTier } from "~/ipc/generated/words";
import type { Message } from "./message";

/** Whose words they are that may be relied on so far; older stores took all of them for the person's. */
export function origin(tier: TrustTier | null): Origin {
  return tier === "untrusted" ? "program" : tier === "observed" ? "service" : "person";
}

/** Paths in the written form, which a model reads, as a person does. */
export function plainPaths(text: string): string {
  return text.replace(/`([^`\s]*%[0-9A-F]{2}[^`\s]*)`/g, (whole, path: string) => {
    try {
      return `"${decodeURIComponent(path)}"`;
    } catch {
      return whole;
    }
  });
}

/** The messages with their last words marked as such: those that were said already, by `spoken` before the last acts, are told once, and
 *  after them. Null where nobody has said them yet. */
export function lastWords(messages: readonly Message[], spoken: string | null, end: Pick<Message, "who" | "receipts" | "at"> & { summary: string }): Message[] | null {
  const { who, summary, receipts, at } = end;
  const twice = (message: Message) => message.who === who && (summary === "" || message.text.includes(summary) || summary.startsWith(message.text));
  const said = messages.find((message) => message.key === spoken && twice(message));
  const ordered = said === undefined || said === messages.at(-1) ? messages : [...messages.filter((message) => message !== said), { ...said, at }];
  const last = ordered.at(-1);
  if (last === undefined || !twice(last)) return null;
  return [...ordered.slice(0, -1), { ...last, final: true, receipts, text: summary === "" ? last.text : summary }];
}
