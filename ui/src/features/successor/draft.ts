// A change that a person writes on the page: its parts as they type them, and the JSON that a host reads.
import type { Preview, Try } from "~/ipc/generated/successor";
import { wholeUpTo } from "~/primitives/number";

/** Kinds of change, as the form offers them. */
export type Kind = "policy" | "words" | "model" | "code" | "written";

export const KINDS: readonly { value: Kind; label: string }[] = [
  { value: "policy", label: "Rules of policy, and the standard profile" }, { value: "words", label: "Words: SOUL.md, or a playbook of your own" },
  { value: "model", label: "Standard model" }, { value: "code", label: "Source of Hermit" }, { value: "written", label: "A change that was written as JSON" },
];

/** Pieces of words. */
export const PIECES: readonly { value: string; label: string }[] = [
  { value: "soul", label: "SOUL.md" }, { value: "playbook", label: "Playbook" },
];

/** Parts of a budget, with the most that a form takes. */
export const PARTS = [
  { part: "wall_seconds", label: "Seconds that each copy may take" }, { part: "cpu_seconds", label: "Seconds of processors that each may use" },
  { part: "memory_mb", label: "Memory that each may use (MB)" }, { part: "disk_mb", label: "Room on the disk that each may use (MB)" },
  { part: "processes", label: "Processes that each may have at once" }, { part: "tokens", label: "Tokens of models that each may use" },
] as const;
type Part = (typeof PARTS)[number]["part"];
const PART_MAX = 999_999_999;

/** Everything that a person typed. `texts`: the rules, the words, the diff and the JSON, each kept while another kind is looked at. */
export interface Draft {
  kind: Kind; texts: Partial<Record<Kind, string>>; profile: string; piece: string; name: string; address: string; base: string;
  about: string; says: string; sources: string; draw: string; seed: string; tasks: readonly string[]; budget: Partial<Record<Part, string>>;
}

export const EMPTY: Draft = {
  kind: "policy", texts: {}, profile: "", piece: "soul", name: "", address: "", base: "", about: "", says: "", sources: "", draw: "", seed: "", tasks: [], budget: {},
};

/** The text of the kind that is looked at. */
export function textNow({ kind, texts }: Draft): string {
  return texts[kind] ?? "";
}

/** What of this is text, by names that are known. */
function textsOf(found: unknown, names: readonly string[]): Record<string, string> {
  const pairs = typeof found === "object" && found !== null ? Object.entries(found) : [];
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string" && names.includes(pair[0])));
}

/** What was kept of a draft; an empty one where that is none. */
export function kept(raw: string): Draft {
  try {
    const found = (raw === "" ? {} : JSON.parse(raw)) as Partial<Record<keyof Draft, unknown>> | null;
    const text = (name: keyof Draft) => (typeof found?.[name] === "string" ? found[name] : "");
    return {
      kind: KINDS.find((one) => one.value === found?.kind)?.value ?? EMPTY.kind, piece: PIECES.find((one) => one.value === found?.piece)?.value ?? EMPTY.piece,
      texts: textsOf(found?.texts, KINDS.map((one) => one.value)), profile: text("profile"), name: text("name"), address: text("address"), base: text("base"), about: text("about"), says: text("says"),
      sources: text("sources"), draw: text("draw"), seed: text("seed"),
      tasks: Array.isArray(found?.tasks) ? found.tasks.filter((one): one is string => typeof one === "string") : [],
      budget: textsOf(found?.budget, PARTS.map((one) => one.part)),
    };
  } catch {
    return EMPTY;
  }
}

const linesOf = (text: string) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");

/** The change as JSON, as a host reads it; `source` is the source of the running version. Null while a part of it is not written. */
export function patchOf(draft: Draft, source: string | null): string | null {
  const [{ kind }, text] = [draft, textNow(draft)];
  if (kind === "written") return text.trim() === "" ? null : text;
  const says = draft.says.trim() === "" ? draft.about.trim() : draft.says.trim();
  const sources = linesOf(draft.sources);
  const change = changeOf(draft, source);
  return change === null || says === "" || sources.length === 0 ? null : JSON.stringify({ says, sources, change });
}

function changeOf(draft: Draft, source: string | null): object | null {
  const [{ kind }, text] = [draft, textNow(draft)];
  if (kind === "policy") return text.trim() === "" ? null : { kind, rules: text, ...(draft.profile.trim() === "" ? {} : { profile: draft.profile.trim() }) };
  if (kind === "model") return draft.address.trim() === "" ? null : { kind, address: draft.address.trim() };
  if (kind === "code") {
    const base = draft.base.trim() === "" ? source : draft.base.trim();
    return text.trim() === "" || base === null ? null : { kind, source: base, diff: text };
  }
  const name = draft.name.trim() === "" && draft.piece === "soul" ? "SOUL.md" : draft.name.trim();
  return text.trim() === "" || name === "" ? null : { kind: "words", items: [{ what: draft.piece, name, text }] };
}

/** What each copy may use up, as far as it was said. */
export function budgetOf(draft: Draft): Omit<Preview, "patches"> {
  return Object.fromEntries(PARTS.map(({ part }) => [part, wholeUpTo(draft.budget[part] ?? "", PART_MAX)]));
}

/** What is asked of a host. */
export function tryOf(draft: Draft, patch: string): Try {
  const [draw, seed] = [draft.draw.trim(), draft.seed.trim()];
  return { patches: [patch], about: draft.about.trim(), tasks: [...draft.tasks], draw: draw === "" ? null : Number(draw), seed: seed === "" ? null : Number(seed), ...budgetOf(draft) };
}

/** What is not written yet, or not so that it can be read; null where nothing is missing. */
export function lacks(draft: Draft, source: string | null): string | null {
  const { kind, seed, draw } = draft;
  const text = textNow(draft);
  if (kind === "model" ? draft.address.trim() === "" : text.trim() === "") return "Write the change first";
  if (kind === "words" && draft.piece !== "soul" && draft.name.trim() === "") return "Say the name of what changes";
  if (kind === "code" && draft.base.trim() === "" && source === null) return "Name the source that the diff applies to";
  if (draft.about.trim() === "") return "Say what the change is to do";
  if (kind !== "written" && linesOf(draft.sources).length === 0) return "Say where what is new in it comes from";
  if (draw.trim() !== "" && wholeUpTo(draw, 1_000) === null) return "Write the number of tasks as a whole number from 1 to 1,000";
  if (seed.trim() !== "" && !(/^\d+$/.test(seed.trim()) && Number.isSafeInteger(Number(seed)))) return "Write what the draw begins with as a whole number";
  const wrong = PARTS.find(({ part }) => (draft.budget[part] ?? "").trim() !== "" && wholeUpTo(draft.budget[part] ?? "", PART_MAX) === null);
  return wrong === undefined ? null : `Write "${wrong.label}" as a whole number from 1`;
}
