// The form of a new task as far as a person has filled it in: kept by its tab until the task is begun or the form is given up.
import { useState } from "react";
import { useTabDraftOf } from "~/screen/drafts";

/** How the form stands. What no tab may keep is no part of it: the bytes of files, and the consent to go on with a model elsewhere. */
export interface Form {
  workspace: string;
  goal: string;
  /** Whether some of the goal was spoken. */
  isSpoken: boolean;
  who: string;
  /** The address of the model; empty while one is being typed, null where nobody chose. */
  model: string | null;
  /** Parameters of a playbook. */
  values: Record<string, string>;
  profile: string;
  title: string;
  constraint: string;
  criteria: string;
  plan: string;
  /** Models behind the first. */
  chain: readonly string[];
  /** Files that were attached, which a page that is loaded anew does not have any more. */
  attached: number;
  /** Whether the person set policy, rules or model themselves. */
  isSet: boolean;
  /** By which the host knows the task again, however often it is sent. */
  key: string;
}

const TEXTS = ["workspace", "goal", "who", "model", "profile", "title", "constraint", "criteria", "plan", "key"] as const;
const YES = ["isSpoken", "isSet"] as const;
/** More models or parameters than any task takes are none of ours. */
const LIST_MAX = 64;

/** Whether a password or a key may stand in an address: before an `@`, also one that is still to come, or behind a `?`. Such a one is
 *  kept by the page alone. */
const mayHoldSecret = (address: string) => /\/\/[^/#]*(@|:\d*[^\d/#])|\?/.test(address);

const isText = (found: unknown): found is string => typeof found === "string";

function parsed(raw: string): unknown {
  try {
    return raw === "" ? null : (JSON.parse(raw) as unknown);
  } catch {
    return null;
  }
}

/** What was kept, as far as it is that; each part by itself. */
export function keptForm(raw: string): Partial<Form> {
  const found = parsed(raw) as Partial<Record<keyof Form, unknown>> | null;
  if (typeof found !== "object" || found === null) return {};
  const kept: Partial<Form> = {};
  for (const name of TEXTS) if (isText(found[name])) kept[name] = found[name];
  for (const name of YES) if (typeof found[name] === "boolean") kept[name] = found[name];
  if (typeof found.attached === "number" && Number.isSafeInteger(found.attached) && found.attached > 0) kept.attached = found.attached;
  if (Array.isArray(found.chain)) kept.chain = found.chain.filter(isText).slice(0, LIST_MAX);
  if (typeof found.values === "object" && found.values !== null) {
    kept.values = Object.fromEntries(Object.entries(found.values).filter((pair): pair is [string, string] => isText(pair[1])).slice(0, LIST_MAX));
  }
  return kept;
}

/** The form that was opened for `of`: what a person filled in, over what was proposed to them. */
export function useForm(of: string, begun: Partial<Form>) {
  const [raw, keep] = useTabDraftOf(`task.${of}`);
  const [fresh, renew] = useState(() => `window:${crypto.randomUUID()}`);
  const [proposed, setProposed] = useState<Partial<Form>>(begun);
  const [secret, setSecret] = useState<string | null>(null);
  const typed = keptForm(raw);
  const form: Form = {
    workspace: "", goal: "", isSpoken: false, who: "model", model: null, values: {}, profile: "", title: "", constraint: "", criteria: "", plan: "", chain: [], attached: 0, isSet: false, key: fresh,
    ...proposed, ...typed, ...(secret === null ? {} : { model: secret }),
  };
  return {
    form,
    /** Whether something was filled in. */
    isBegun: raw !== "" || secret !== null,
    /** A person fills this in. */
    write: ({ model, ...more }: Partial<Form>) => {
      const isKept = model === undefined || model === null || !mayHoldSecret(model);
      if (model !== undefined) setSecret(isKept ? null : model);
      keep((now) => JSON.stringify({ key: fresh, ...keptForm(now), ...more, ...(model === undefined ? {} : { model: isKept ? model : "" }) }));
    },
    /** This is proposed where a person has filled nothing in. */
    propose: (more: Partial<Form>) => setProposed((before) => ({ ...before, ...more })),
    /** Nothing of it is kept any more: it was sent, or given up. */
    forget: () => {
      keep("");
      setSecret(null);
      renew(`window:${crypto.randomUUID()}`);
    },
  };
}
