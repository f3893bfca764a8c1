// Prompts of servers of tools: what there is to ask for, and the words that one comes to.
import { useQuery } from "@tanstack/react-query";
import { useHost } from "~/ipc/client";
import type { PromptArgumentWords } from "~/ipc/generated/tools";

/** Servers whose prompts are offered: as many as fit into one look. */
const SERVERS_MAX = 32;
/** What the end of such a task begins with, before the words that it came to. */
const ANSWERED = "It answered: ";
/** Letters of them that the end of a task shows; the host knows the same. */
export const WORDS_MAX = 4_000;

export interface ServerPrompt {
  server: string;
  name: string;
  says: string;
  takes: readonly PromptArgumentWords[];
  /** What is typed for it, behind the slash. */
  typed: string;
}

/** Every prompt that a person may ask for now; of a server that has changed, none that differs. */
export function useServerPrompts(enabled: boolean) {
  const host = useHost();
  return useQuery<ServerPrompt[]>({
    queryKey: ["tools.show", "prompts"], enabled,
    queryFn: async ({ signal }) => {
      const { servers } = await host.call("tools.list", {}, signal);
      const usable = servers.filter((one) => one.state === "ready" || one.state === "changed").slice(0, SERVERS_MAX);
      const shown = await Promise.all(usable.map((one) => host.call("tools.show", { server: one.server }, signal)));
      return shown.flatMap((one) => one.prompts.filter((prompt) => !prompt.changed).map((prompt) => ({
        server: one.server.server, name: prompt.name, says: prompt.description ?? prompt.title ?? "", takes: prompt.arguments, typed: `${one.server.server} ${prompt.name}`,
      })));
    },
  });
}

/** A skill that a person trusts, as a draft asks for it. */
interface OfferedSkill {
  name: string;
  says: string;
  typed: string;
}

/** Skills of a folder and the person's own that models may be told of; none where a field names no folder. */
export function useTrustedSkills(folder: string, enabled: boolean) {
  const host = useHost();
  return useQuery<OfferedSkill[]>({
    queryKey: ["skills.list", "offered", folder], enabled,
    queryFn: async ({ signal }) => {
      const { skills } = await host.call("skills.list", { folder: folder === "" ? null : folder }, signal);
      return skills.filter((one) => one.state === "trusted").map((one) => ({ name: one.name, says: one.description ?? "", typed: one.name }));
    },
  });
}

/** Those that what is typed may mean: a slash, and a part of their names. */
export function meant<P extends { typed: string }>(prompts: readonly P[], text: string): P[] {
  const words = text.slice(1).toLowerCase().split(/\s+/).filter((word) => word !== "");
  return prompts.filter((one) => words.every((word) => one.typed.toLowerCase().includes(word)));
}

/** Whether what stands in a field asks for a prompt: one line that begins with a slash and is no path. */
export function asksForPrompt(text: string): boolean {
  return /^\/[^/\n]*$/.test(text);
}

/** The words that a prompt came to, from the end of its task. */
export function cameTo(summary: string): string | null {
  return summary.startsWith(ANSWERED) ? summary.slice(ANSWERED.length) : null;
}
