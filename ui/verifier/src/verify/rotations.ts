/** Keys that followed others: each step is signed by both, and the chain of them ends in a key of this bundle. */
import type { Check } from "./check.ts";
import type { PublicKey } from "./keys.ts";
import * as l from "./layout.ts";
import type { Predicate } from "./manifest.ts";
import { before, openRevocation, openSuccession, type Revocation, type Succession } from "./succession.ts";
import { at, Stop } from "./read/stop.ts";
import type { Trust } from "./trust.ts";

/** What keys are for. */
export const PURPOSES = ["log", "receipt", "manifest", "approval"] as const;
type Purpose = (typeof PURPOSES)[number];
/** Once a week for half a lifetime; a hostile bundle has more. */
const ROTATIONS_MAX = 2_000;

/** How the reader's keys lead to one of the bundle's: through the nearest key that is trusted, and if none broke it. */
export interface Leads {
  /** The trusted key, so many steps ago; none for the key in force itself. */
  named: PublicKey;
  steps: number;
  /** The nearest key on the way that its owner revoked: whoever took it could have signed the step that follows. */
  revoked?: PublicKey;
}

/** Who followed whom, and who is revoked. */
export class Rotations {
  private readonly lines = new Map<Purpose, PublicKey[]>();
  private readonly revocations: Revocation[] = [];

  constructor(private readonly check: Check) {}

  /** Reads the notes about keys. Without keys there are none. */
  read(about: Predicate): void {
    const below = (folder: string): string[] => [...this.check.sums.keys()].filter((name) => name.startsWith(folder));
    const [rotations, revocations] = [below("keys/rotations/"), below("keys/revocations/")];
    if (!this.check.signed) {
      const stray = [...rotations, ...revocations][0];
      if (stray !== undefined) throw new Stop(stray, "the bundle of a store without keys has no such file");
      return;
    }
    if (Math.max(rotations.length, revocations.length) > ROTATIONS_MAX) {
      throw new Stop("keys/rotations", `no store rotates its keys more than ${ROTATIONS_MAX} times`);
    }
    this.successions(rotations.length, about.log_id);
    for (let n = 1; n <= revocations.length; n += 1) {
      const name = l.revocationPath(n);
      const bytes = this.check.whole(name, l.SMALL_BYTES_MAX);
      const said = at(name, () => openRevocation(bytes));
      const ours = this.belongs(said.purpose, said.key) && this.belongs(said.purpose, said.by);
      if (said.logId !== about.log_id || !ours) throw new Stop(name, "it is about keys that are none of this bundle's");
      this.revocations.push(said);
    }
  }

  private successions(many: number, logId: string): void {
    const steps: Succession[] = [];
    for (let n = 1; n <= many; n += 1) {
      const name = l.rotationPath(n);
      const bytes = this.check.whole(name, l.SMALL_BYTES_MAX);
      const step = at(name, () => openSuccession(bytes));
      if (step.logId !== logId) throw new Stop(name, "it is about the keys of another log");
      steps.push(step);
    }
    for (const purpose of PURPOSES) {
      const key = this.check.keys[purpose];
      if (key) this.lines.set(purpose, [key, ...before(key, purpose, steps)]);
    }
    const astray = steps.findIndex((step) => !this.belongs(step.purpose, step.old));
    if (astray >= 0) throw new Stop(l.rotationPath(astray + 1), "it does not lead to the key in force");
  }

  private belongs(purpose: string, key: PublicKey): boolean {
    const known = PURPOSES.find((one) => one === purpose);
    return known !== undefined && this.ever(known).some((one) => one.equals(key));
  }

  /** The key in force for a purpose, and all that came before it, the nearest first. */
  ever(purpose: Purpose): readonly PublicKey[] {
    const key = this.check.keys[purpose];
    return this.lines.get(purpose) ?? (key ? [key] : []);
  }

  /** How the keys that the reader trusts lead to the one in force, if they do. */
  leads(purpose: Purpose, trust: readonly Trust[]): Leads | undefined {
    let revoked: PublicKey | undefined;
    for (const [steps, named] of this.ever(purpose).entries()) {
      if (this.revocations.some(({ key }) => key.equals(named))) revoked ??= named;
      if (trust.some((one) => one.names(named))) return { named, steps, ...(revoked && { revoked }) };
    }
    return undefined;
  }
}
