// A change that a person writes on the page: its parts as they type them, and the JSON that a host reads.
import type { Preview, Try } from "~/ipc/generated/successor";
import { wholeUpTo } from "~/primitives/number";

/** Kinds of change, as the form offers them. */
export type Kind = "policy" | "words" | "model" | "code" | "written";

export const KINDS: readonly { value: Kind; label: string }[] = [
  { value: "policy", label: "Rules of policy, and the standard profile" }, { value: "words", label: "Words: SOUL.md, a skin, a skill, or a playbook of your own" },
  { value: "model", label: "Standard model" }, { value: "code", label: "Source of Hermit" }, { value: "written", label: "A change that was written as JSON" },
];

/** Pieces of words. */
export const PIECES: readonly { value: string; label: string }[] = [
  { value: "soul", label: "SOUL.md" }, { value: "skin", label: "Skin" }, { value: "skill", label: "Skill" }, { value: "playbook", label: "Playbook" },
];

/** Parts of a budget, with the most that a form takes. */
export const PARTS = [
  { part: "wall_seconds", label: "Seconds that each copy may take" }, { part: "cpu_seconds", label: "Seconds of processors that each may use" },
  { part: "memory_mb", label: "Memory that each may use (MB)" }, { part: "disk_mb", label: "Room on the disk that each may use (MB)" },
  { part: "processes", label: "Processes that each may have at once" }, { part: "tokens", label: "Tokens of models that each may use" },
] as const;
type Part = (typeof PARTS)[number]["part"];
const PART_MAX = 999_999_999;

/** Changes that race at most. */
export const RIVALS_MAX = 8;

/** Everything that a person typed. `texts`: the rules, the words, the diff and the JSON, each kept while another kind is looked at;
    `rivals`: further variants of each kind, which race against it. */
export interface Draft {
  kind: Kind; texts: Partial<Record<Kind, string>>; rivals: Partial<Record<Kind, readonly string[]>>; profile: string; piece: string; name: string; address: string; base: string;
  about: string; says: string; sources: string; ask: string; draw: string; seed: string; tasks: readonly string[]; budget: Partial<Record<Part, string>>;
}

export const EMPTY: Draft = {
  kind: "policy", texts: {}, rivals: {}, profile: "", piece: "soul", name: "", address: "", base: "", about: "", says: "", sources: "", ask: "", draw: "", seed: "", tasks: [], budget: {},
};

/** The text of the kind that is looked at, or the address of its model. */
export function textNow({ kind, texts, address }: Draft): string {
  return kind === "model" ? address : texts[kind] ?? "";
}

/** Further variants of the kind that is looked at. */
export function rivalsNow({ kind, rivals }: Draft): readonly string[] {
  return rivals[kind] ?? [];
}

/** The draft with what is in force in the place of rules and of SOUL.md, as long as nothing was typed there: a person edits these. */
export function begunFrom(draft: Draft, inForce: { rules: string; soul: string }): Draft {
  const words = draft.texts.words ?? (draft.piece === "soul" && inForce.soul !== "" ? inForce.soul : undefined);
  return { ...draft, texts: { ...draft.texts, policy: draft.texts.policy ?? inForce.rules, ...(words === undefined ? {} : { words }) } };
}

/** What stands in the field as things are now, where the person writes a change of it; null of a kind that has no such text. */
export function inForceNow({ kind, piece }: Draft, inForce: { rules: string; soul: string }): string | null {
  if (kind === "policy") return inForce.rules;
  return kind === "words" && piece === "soul" ? inForce.soul : null;
}

/** What of this is text, by names that are known. */
function textsOf(found: unknown, names: readonly string[]): Record<string, string> {
  const pairs = typeof found === "object" && found !== null ? Object.entries(found) : [];
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string" && names.includes(pair[0])));
}

function rivalsOf(found: unknown): Draft["rivals"] {
  const of = (typeof found === "object" && found !== null ? found : {}) as Partial<Record<Kind, unknown>>;
  const texts = (all: unknown) => (Array.isArray(all) ? all.filter((one): one is string => typeof one === "string").slice(0, RIVALS_MAX - 1) : []);
  return Object.fromEntries(KINDS.map(({ value }) => [value, texts(of[value])]).filter(([, all]) => all !== undefined && all.length > 0));
}

/** What was kept of a draft; an empty one where that is none. */
export function kept(raw: string): Draft {
  try {
    const found = (raw === "" ? {} : JSON.parse(raw)) as Partial<Record<keyof Draft, unknown>> | null;
    const text = (name: keyof Draft) => (typeof found?.[name] === "string" ? found[name] : "");
    return {
      kind: KINDS.find((one) => one.value === found?.kind)?.value ?? EMPTY.kind, piece: PIECES.find((one) => one.value === found?.piece)?.value ?? EMPTY.piece,
      texts: textsOf(found?.texts, KINDS.map((one) => one.value)), rivals: rivalsOf(found?.rivals), profile: text("profile"), name: text("name"), address: text("address"), base: text("base"), about: text("about"), says: text("says"),
      sources: text("sources"), ask: text("ask"), draw: text("draw"), seed: text("seed"),
      tasks: Array.isArray(found?.tasks) ? found.tasks.filter((one): one is string => typeof one === "string") : [],
      budget: textsOf(found?.budget, PARTS.map((one) => one.part)),
    };
  } catch {
    return EMPTY;
  }
}

const linesOf = (text: string) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");

/** The changes as JSON, as a host reads them, those that race after the first; `source` is the source of the running version. Null
    while a part of one is not written. */
export function patchesOf(draft: Draft, source: string | null): string[] | null {
  const all = [textNow(draft), ...rivalsNow(draft)].map((text, at, { length }) => patchOf(draft, text, source, length === 1 ? "" : nameOf(draft, text, at)));
  return all.every((one) => one !== null) ? all : null;
}

/** What tells one variant from another in a table. */
function nameOf({ kind }: Draft, text: string, at: number): string {
  return kind === "model" ? ` (${text.trim()})` : ` (variant ${at + 1})`;
}

function patchOf(draft: Draft, text: string, source: string | null, name: string): string | null {
  if (draft.kind === "written") return text.trim() === "" ? null : text;
  const says = draft.says.trim() === "" ? draft.about.trim() : draft.says.trim();
  const sources = linesOf(draft.sources);
  const change = changeOf(draft, text, source);
  return change === null || says === "" || sources.length === 0 ? null : JSON.stringify({ says: `${says}${name}`, sources, change });
}

function changeOf(draft: Draft, text: string, source: string | null): object | null {
  const { kind } = draft;
  if (kind === "policy") return text.trim() === "" ? null : { kind, rules: text, ...(draft.profile.trim() === "" ? {} : { profile: draft.profile.trim() }) };
  if (kind === "model") return text.trim() === "" ? null : { kind, address: text.trim() };
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

/** Whether a model reads what changes, so that one can be asked about it. */
export function isReadByModels({ kind, piece }: Draft): boolean {
  return kind === "words" && piece !== "playbook";
}

/** What is asked of a host. */
export function tryOf(draft: Draft, patches: string[]): Try {
  const [draw, seed] = [draft.draw.trim(), draft.seed.trim()];
  return { patches, about: draft.about.trim(), tasks: [...draft.tasks], draw: draw === "" ? null : Number(draw), seed: seed === "" ? null : Number(seed), ask: isReadByModels(draft) && draft.ask.trim() !== "" ? draft.ask.trim() : null, ...budgetOf(draft) };
}

/** What is not written yet, or not so that it can be read; null where nothing is missing. `begins`: what the field began with. */
export function lacks(draft: Draft, source: string | null, begins: string | null = null): string | null {
  const { kind, seed, draw } = draft;
  const all = [textNow(draft), ...rivalsNow(draft)];
  const empty = all.findIndex((text) => text.trim() === "");
  if (empty >= 0) return empty === 0 ? "Write the change first" : `Write variant ${empty + 1}, or take it away`;
  if (all.includes(begins ?? "")) return all.length === 1 ? "Change what stands there first" : "Make each variant another than what is in force";
  if (new Set(all.map((text) => text.trim())).size < all.length) return "Make each variant another one";
  if (kind === "words" && draft.piece !== "soul" && draft.name.trim() === "") return "Say the name of what changes";
  if (kind === "code" && draft.base.trim() === "" && source === null) return "Name the source that the diff applies to";
  if (draft.about.trim() === "") return "Say what the change is to do";
  if (kind !== "written" && linesOf(draft.sources).length === 0) return "Say where what is new in it comes from";
  if (draw.trim() !== "" && wholeUpTo(draw, 1_000) === null) return "Write the number of tasks as a whole number from 1 to 1,000";
  if (seed.trim() !== "" && !(/^\d+$/.test(seed.trim()) && Number.isSafeInteger(Number(seed)))) return "Write what the draw begins with as a whole number";
  const wrong = PARTS.find(({ part }) => (draft.budget[part] ?? "").trim() !== "" && wholeUpTo(draft.budget[part] ?? "", PART_MAX) === null);
  return wrong === undefined ? null : `Write "${wrong.label}" as a whole number from 1`;
}
