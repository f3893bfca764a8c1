// A host that is made up, for tests only. It answers what it was given and refuses the rest by name.
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Notice } from "~/ipc/generated/shared";
import { type Deciding, type Devices, type Host, type KeyState, type Keyring, type Lasting, type Link, type NewKeys, type NewPassphrase, type Passkeys, type Pen, type Person, type Pushes, Refused } from "./host";

type Answers = { [N in CommandName]?: Commands[N]["answer"] | ((params: Commands[N]["params"]) => Commands[N]["answer"] | Promise<Commands[N]["answer"]>) };

export class FakeHost implements Host {
  readonly kind = "fake" as const;
  readonly deciding: Deciding;
  readonly asked: { name: CommandName; params: unknown }[] = [];
  /** Passphrases that were changed on it, in order. */
  readonly changed: NewPassphrase[] = [];
  readonly #answers: Answers;
  #heard = new Set<(notice: Notice) => void>();
  #linked = new Set<(link: Link) => void>();
  openCard?: (approval: string) => Promise<void>;
  savePlace?: (suggested: string) => Promise<string | null>;
  pen?: Pen;
  person?: Person;
  keys?: Keyring;
  passkeys?: Passkeys;
  devices?: Devices;
  pushes?: Pushes;
  /** What was signed here, in order. */
  readonly signed: { kind: "allow" | "allow_override"; passphrase: string; word: string | null; lasting: Lasting | null; words: string | null }[] = [];

  constructor(answers: Answers, deciding: Deciding = "terminal") {
    this.#answers = answers;
    this.deciding = deciding;
    if (deciding === "passphrase") this.pen = this.#pen();
    if (deciding === "window") this.openCard = () => Promise.resolve();
  }

  /** Takes the passphrase `right`, at high risk. */
  #pen(): Pen {
    const sign = (one: FakeHost["signed"][number]) => {
      this.signed.push(one);
      return one.passphrase === "right" ? Promise.resolve() : Promise.reject(new Refused({ code: "key_locked", message: "the passphrase is wrong" }));
    };
    const rehearsed = { answered: 3, refused: 0, questions: 5, rows: [] };
    return {
      sit: (approval) => Promise.resolve({ ticket: "t", approval, packet_sha256: "c0ffee00".repeat(8), arms_in: 30, word: "high" }),
      allow: (_, passphrase, word, lasting) => sign({ kind: "allow", passphrase, word, lasting, words: lasting?.words ?? null }),
      offers: (_, scope, days, uses) => Promise.resolve(["delete `a.csv`", "delete `*.csv`"].map((words) => ({ words: `${words} in this ${scope}, ${days} days, ${uses} times`, days: days ?? 7, uses: uses ?? 50, rehearsed }))),
      prepareOverride: (act, reason) => Promise.resolve({
        ticket: "d", words: `ask about ${act}, because ${reason}`, arms_in: 30, word: "override",
        denied: { profile: "destructive_denied", verdict: "deny", downgrade: null, instead_of: null, risk: "high", classes: [], summary: "delete a.csv", risk_summary: "deletes a file", reasons: "", rules: [] },
      }),
      allowOverride: ({ words }, passphrase, word) => sign({ kind: "allow_override", passphrase, word, lasting: null, words }),
    };
  }

  /** Holds keys that stand so; they take the passphrase `right`. What was made of them, in order. */
  holding(state: KeyState): NewKeys[] {
    const made: NewKeys[] = [];
    let now = state;
    const become = (more: Partial<KeyState>) => Promise.resolve(now = { ...now, ...more });
    this.keys = {
      state: () => become({}),
      make: (keys) => { made.push(keys); return become({ made: true, approval: true, open: true, vault: keys.keychain ? "keychain" : "file" }); },
      unlock: (words) => (words === "right" ? become({ open: true }) : Promise.reject(new Refused({ code: "key_locked", message: "this passphrase does not open it" }))),
      change: (passphrase) => {
        if (passphrase.old !== "right") return Promise.reject(new Refused({ code: "key_locked", message: "that passphrase does not open it" }));
        this.changed.push(passphrase);
        return become({});
      },
      lock: () => become({ open: false }),
    };
    return made;
  }

  async call<N extends CommandName>(name: N, params: Commands[N]["params"]): Promise<Commands[N]["answer"]> {
    this.asked.push({ name, params });
    const answer = this.#answers[name] as unknown;
    if (answer === undefined) throw new Refused({ code: "unknown_command", message: `the made-up host was not told what \`${name}\` answers` });
    await Promise.resolve();
    return (typeof answer === "function" ? await answer(params) : answer) as Commands[N]["answer"];
  }

  listen(notice: (notice: Notice) => void, link: (link: Link) => void): () => void {
    this.#heard.add(notice);
    this.#linked.add(link);
    link("live");
    return () => {
      this.#heard.delete(notice);
      this.#linked.delete(link);
    };
  }

  say(notice: Notice) {
    for (const heard of this.#heard) heard(notice);
  }

  link(link: Link) {
    for (const linked of this.#linked) linked(link);
  }

  /** How often a command was asked. */
  times(name: CommandName): number {
    return this.asked.filter((one) => one.name === name).length;
  }
}
