/** Dual control by itself: how many keys allowed an act, and which. Whole bundles are compared with the other verifier in Rust. */
import { expect, test } from "vitest";
import type { Check } from "../src/verify/check.ts";
import { DualControl } from "../src/verify/dual.ts";
import { Facts, type DecisionFact, type Granted } from "../src/verify/facts.ts";
import type { Statement } from "../src/verify/generated/nouns.ts";
import { Stop } from "../src/verify/read/stop.ts";

const [FIRST, SECOND, PACKET, OTHER] = ["01", "02", "03", "04"].map((byte) => byte.repeat(32)) as [string, string, string, string];
const ABOUT = "apr_1";
const scope: Granted["scope"] = { shape: "exact", pattern: [], expires_at: 9, max_uses: 1 };

interface Said {
  /** What the event of the question says, and what its packet does. */
  told: boolean;
  shown?: boolean | undefined;
  first?: Partial<DecisionFact & Granted>;
  after?: string | undefined;
  answered?: string;
  isSpan?: boolean;
  /** Whether the first yes is of the approval key, as the second is. */
  isByKey?: boolean;
  /** Whether policy wanted two keys. */
  judged?: boolean;
}

function held(said: Said): { dual: DualControl; withheld: string[] } {
  const facts = new Facts();
  const withheld: string[] = [];
  facts.packets.set(ABOUT, PACKET);
  if (said.told) facts.forTwo.add(ABOUT);
  const yes = (seq: number, granted: Granted): DecisionFact => ({ seq, approval_id: ABOUT, decided_by: "prn_1", surface: "browser", granted });
  if (said.first) {
    const { seq = 1, approval_id = ABOUT, keyid = "one", isFirst = true } = said.first;
    facts.decisions.set(FIRST, { ...yes(seq, { scope, keyid, isFirst, ...(said.isByKey !== true && { enrolment: OTHER }) }), approval_id });
  }
  facts.decisions.set(SECOND, yes(2, { scope, keyid: "other", isFirst: false, ...(said.after !== undefined && { after: said.after }) }));
  const predicate = said.isSpan ? { span: { first: 2, last: 3 } } : {};
  const check = { facts, predicate, withholds: (what: string) => withheld.push(what) } as unknown as Check;
  const dual = new DualControl(check, {
    needsTwo: (packet) => (packet === undefined ? undefined : said.shown),
    judgedTwo: () => said.judged === true,
  });
  dual.answered.set(1, said.answered ?? PACKET);
  dual.answered.set(2, PACKET);
  return { dual, withheld };
}

/** Why it is refused; nothing where it is not. */
function refusal(check: () => void): string {
  try {
    check();
  } catch (thrown) {
    if (thrown instanceof Stop) return thrown.why;
    throw thrown;
  }
  return "";
}

const both: Said = { told: true, shown: true, first: {}, after: FIRST };

test("two different keys that said yes to one packet allow it, and one where one is enough", () => {
  for (const said of [both, { ...both, shown: undefined }, { told: false, shown: false }, { told: false }]) held(said).dual.all();
  const span = held({ ...both, first: undefined, isSpan: true } as Said);
  span.dual.all();
  expect(span.withheld).toEqual([`the first of the two yeses on ${ABOUT}`]);
});

test.each<[string, Said, string]>([
  ["one yes", { told: true, shown: true }, "one key says yes where two different keys have to"],
  ["one yes, and the packet is not shown", { told: true }, "one key says yes where two different keys have to"],
  ["two of one key", { ...both, first: { keyid: "other" } }, "the same key says yes twice"],
  ["two approval keys, one after the other", { ...both, isByKey: true }, "the approval key says yes twice"],
  ["one to another packet", { ...both, answered: OTHER }, "the two yeses are to different packets"],
  ["one to another question", { ...both, first: { approval_id: "apr_2" } }, "not the first of the two yeses"],
  ["one behind the second", { ...both, first: { seq: 3 } }, "not the first of the two yeses"],
  ["one that the log does not tell", { told: true, shown: true, after: FIRST }, "is not in the log"],
  ["two where one is enough", { ...both, told: false, shown: false }, "two keys say yes where one has to"],
  ["a packet that says otherwise", { ...both, told: false, shown: true }, "says otherwise than the log"],
])("refused: %s", (_, said, why) => {
  expect(refusal(() => held(said).dual.all())).toContain(why);
});

test("a receipt names both yeses that its act needed, as the log tells them", () => {
  const receipt = (authorized: Record<string, string>, approval = ABOUT): Statement["predicate"] =>
    ({ approval_ref: approval, authorized: { approval_packet_sha256: PACKET, capability_grant_sha256: OTHER, ...authorized } }) as unknown as Statement["predicate"];
  const said = (told: Said, authorized: Record<string, string>) => refusal(() => held(told).dual.receipt("receipt", receipt(authorized)));
  const [second, first] = [{ approval_decision_sha256: SECOND }, { first_decision_sha256: FIRST }];
  expect(said(both, { ...second, ...first })).toBe("");
  expect(said(both, second)).toContain("names one yes where two different keys");
  expect(said({ ...both, shown: undefined }, second)).toContain("names one yes where two different keys");
  expect(said(both, { ...second, first_decision_sha256: OTHER })).toContain("another first yes than the log does");
  expect(said({ told: false, judged: true }, second)).toContain("names one yes where two different keys");
  expect(refusal(() => held(both).dual.receipt("receipt", receipt({ ...second, ...first }, "apr_2")))).toContain("answers another question");
  expect(said({ told: false, shown: false }, { ...second, ...first })).toContain("names two yeses where one key");
});
