// A host that is made up, for tests only. It answers what it was given and refuses the rest by name.
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Notice } from "~/ipc/generated/shared";
import { type Deciding, type Host, type Link, Refused, type Seat } from "./host";

type Answers = { [N in CommandName]?: Commands[N]["answer"] | ((params: Commands[N]["params"]) => Commands[N]["answer"] | Promise<Commands[N]["answer"]>) };

export class FakeHost implements Host {
  readonly kind = "fake" as const;
  readonly deciding: Deciding;
  readonly asked: { name: CommandName; params: unknown }[] = [];
  readonly #answers: Answers;
  #heard = new Set<(notice: Notice) => void>();
  #linked = new Set<(link: Link) => void>();
  openCard?: (approval: string) => Promise<void>;
  sit?: (approval: string) => Promise<Seat>;
  allow?: (seat: Seat, passphrase: string, word: string | null) => Promise<void>;
  readonly allowed: { seat: Seat; passphrase: string; word: string | null }[] = [];

  constructor(answers: Answers, deciding: Deciding = "terminal") {
    this.#answers = answers;
    this.deciding = deciding;
    if (deciding === "passphrase") {
      this.sit = (approval) => Promise.resolve({ ticket: "t", approval, packet_sha256: "c0ffee00".repeat(8), arms_in: 30, word: "high" });
      this.allow = (seat, passphrase, word) => {
        this.allowed.push({ seat, passphrase, word });
        return passphrase === "right" ? Promise.resolve() : Promise.reject(new Refused({ code: "key_locked", message: "the passphrase is wrong" }));
      };
    }
    if (deciding === "window") this.openCard = () => Promise.resolve();
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
