// Typed calls, the cache of their answers, and the link that keeps it fresh.
import {
  type UseQueryOptions,
  type UseQueryResult,
  QueryClient,
  keepPreviousData,
  skipToken,
  useInfiniteQuery,
  useMutation,
  useMutationState,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { createContext, useCallback, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { type Host, type KeyState, type Keyring, type Link, type Making, type Refused, refusal } from "~/host/host";
import type { CommandName, Commands } from "./generated/commands";
import type { Notice, Topic } from "./generated/shared";
import { type Said, Sayings, shown, whole } from "./saying";
import { isStale } from "./topics";

type Params<N extends CommandName> = Commands[N]["params"];
type Answer<N extends CommandName> = Commands[N]["answer"];

/** Notices that come together refresh together. */
const GATHER_MS = 120;

const HostContext = createContext<Host | null>(null);
export const HostProvider = HostContext.Provider;

export function useHost(): Host {
  const host = useContext(HostContext);
  if (host === null) throw new Error("no host above this component");
  return host;
}

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: false, refetchOnWindowFocus: false, staleTime: Number.POSITIVE_INFINITY },
      mutations: { retry: false },
    },
  });
}

type Options<N extends CommandName> = Pick<
  UseQueryOptions<Answer<N>, Refused>,
  "enabled" | "staleTime" | "refetchInterval"
> & { keep?: boolean };

/** Asks, keeps the answer, and asks again when a notice says that it may have changed. */
export function useAsk<N extends CommandName>(
  name: N,
  params: Params<N>,
  { keep = false, ...options }: Options<N> = {},
): UseQueryResult<Answer<N>, Refused> {
  const host = useHost();
  return useQuery<Answer<N>, Refused>({
    queryKey: [name, params],
    queryFn: async ({ signal }) => {
      try {
        return await host.call(name, params, signal);
      } catch (thrown) {
        throw refusal(thrown);
      }
    },
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    ...options,
  });
}

/** Commands that answer with a part of a list and where to go on. */
type Listing = { [N in CommandName]: Answer<N> extends { rows: unknown[]; next?: string | null } ? N : never }[CommandName];
type RowOf<N extends Listing> = Answer<N> extends { rows: (infer R)[] } ? R : never;

export interface Pages<R> {
  rows: readonly R[];
  /** Whether there is more than these. */
  more: boolean;
}

/** One function for all, so that it runs when there is something new and not whenever a screen is drawn. */
function flat(data: { pages: unknown[] }): Pages<unknown> {
  const pages = data.pages as { rows: unknown[]; next?: string | null }[];
  return { rows: pages.flatMap((page) => page.rows), more: pages.at(-1)?.next != null };
}

/** A list as far as it was wanted, part by part; `further` asks for the next part. */
export function usePages<N extends Listing>(name: N, params: Omit<Params<N>, "after">): UseQueryResult<Pages<RowOf<N>>, Refused> & { further: () => void } {
  const host = useHost();
  const asked = useInfiniteQuery<Answer<N>, Refused, Pages<RowOf<N>>, readonly unknown[], string | null>({
    queryKey: [name, "pages", params],
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }) => {
      try {
        return await host.call(name, { ...params, ...(pageParam === null ? {} : { after: pageParam }) } as Params<N>, signal);
      } catch (thrown) {
        throw refusal(thrown);
      }
    },
    getNextPageParam: (last) => (last as { next?: string | null }).next ?? undefined,
    select: flat as (data: { pages: Answer<N>[] }) => Pages<RowOf<N>>,
    placeholderData: keepPreviousData,
    // Pages are shared as they are, part by part; comparing every row of every page with its last self, at each part that
    // comes in, would hold the page up the longer the further a person has gone.
    structuralSharing: false,
  });
  const { hasNextPage, isFetching, fetchNextPage } = asked;
  const further = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return Object.assign(asked, { further }) as unknown as UseQueryResult<Pages<RowOf<N>>, Refused> & { further: () => void };
}

interface Acting<N extends CommandName> {
  /** What it is done for, by which `useSending` finds it. */
  of?: string;
  /** Runs once it was done, also when whoever asked for it is no longer on the screen. */
  taken?: (answer: Answer<N>, params: Params<N>) => void;
}

/** A command that changes something. What it changes comes back as notices, and is asked again for hosts without them. */
export function useAct<N extends CommandName>(name: N, { of, taken }: Acting<N> = {}) {
  const host = useHost();
  const client = useQueryClient();
  return useMutation<Answer<N>, Refused, Params<N>>({
    mutationKey: of === undefined ? [name] : [name, of],
    mutationFn: async (params) => {
      try {
        return await host.call(name, params);
      } catch (thrown) {
        throw refusal(thrown);
      }
    },
    ...(taken === undefined ? {} : { onSuccess: taken }),
    onSettled: () => client.invalidateQueries(),
  });
}

/** The words on their way for something, whichever part of the page sent them. */
export function useSending(of: string): string | null {
  const texts = useMutationState({
    filters: { status: "pending", predicate: (one) => one.options.mutationKey?.[1] === of },
    select: (one) => (one.state.variables as { text?: string } | undefined)?.text ?? "",
  });
  return texts[0] ?? null;
}

/** Something that a host tells once: this page keeps it while it is open, also when the screen that asked is left. */
export function useKept<T>(name: string): [T | null, (value: T | null) => void] {
  const client = useQueryClient();
  const kept = useQuery<T | null>({ queryKey: ["kept", name], queryFn: skipToken, gcTime: Number.POSITIVE_INFINITY });
  const keep = useCallback((value: T | null) => void client.setQueryData(["kept", name], value), [client, name]);
  return [kept.data ?? null, keep];
}

/** A file that a command makes: at a place on the host's machine, or as a download. */
export function useMake<N extends Making>(name: N) {
  return useMutation<Answer<N>, Refused, () => Promise<Answer<N>>>({
    mutationKey: [name, "made"],
    mutationFn: async (make) => {
      try {
        return await make();
      } catch (thrown) {
        throw refusal(thrown);
      }
    },
  });
}

/** How the host's keys stand, where a page may ask; read again when `keys.list` is. */
export function useKeys(): UseQueryResult<KeyState, Refused> {
  const { keys } = useHost();
  return useQuery<KeyState, Refused>({
    queryKey: ["keys.list", "state"],
    enabled: keys !== undefined,
    queryFn: () => told(keys?.state()),
  });
}

/** What a person does with the keys of the host. */
export function useKeyring() {
  const { keys } = useHost();
  const client = useQueryClient();
  return useMutation<KeyState, Refused, (keys: Keyring) => Promise<KeyState>>({
    mutationFn: (act) => told(keys === undefined ? undefined : act(keys)),
    onSettled: () => client.invalidateQueries(),
  });
}

async function told<T>(asked: Promise<T> | undefined): Promise<T> {
  try {
    if (asked === undefined) throw new Error("this page holds no keys");
    return await asked;
  } catch (thrown) {
    throw refusal(thrown);
  }
}

/** Texts that are told at this moment and nowhere kept, by task. */
class Drafts {
  #texts = new Map<string, string>();
  #listeners = new Set<() => void>();
  /** Behind what was there, of which only the last letters are kept. */
  addLast(task: string, text: string, most: number) {
    this.#texts.set(task, (this.of(task) + text).slice(-most));
    this.#tell();
  }
  /** In the place of what was there. */
  put(task: string, text: string) {
    this.#texts.set(task, text);
    this.#tell();
  }
  clear(task: string) {
    if (this.#texts.delete(task)) this.#tell();
  }
  forget() {
    this.#texts.clear();
    this.#tell();
  }
  of = (task: string) => this.#texts.get(task) ?? "";
  listen = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  #tell() {
    for (const listener of this.#listeners) listener();
  }
}
/** What reasoners are writing at this moment, by task; gone when the answer is recorded. */
const drafts = new Sayings();
/** What they reason at this moment, which is no part of what they write. */
const thoughts = new Sayings();
/** What a tool at work prints or says at this moment; its result holds all of it. */
const outputs = new Drafts();
/** How far long work is at this moment, in words. */
const doings = new Drafts();
/** What was heard so far may be old: who hears nothing any more, or begins to hear, starts with what the host tells. */
function forget(): void {
  for (const one of [drafts, thoughts, outputs, doings]) one.forget();
}
/** Letters of it that a page keeps, the last. */
const OUTPUT_KEPT = 20_000;

/** What of a task's answer is under way; of one that nobody works on, nothing is. */
type UnderWay = Pick<Answer<"task.show">, "interrupted" | "asking" | "writing" | "thinking">;

/** What is being written for a task: what its host had of it when the page asked, and what was heard since. */
export function useDraft(task: string, told: UnderWay | undefined): string {
  return useSaid(drafts, task, saidOf(told, told?.writing, told?.asking?.writing_from));
}

/** The same of what is reasoned. */
export function useThought(task: string, told: UnderWay | undefined): string {
  return useSaid(thoughts, task, saidOf(told, told?.thinking, told?.asking?.thinking_from));
}

function saidOf(told: UnderWay | undefined, text: string | null | undefined, from: number | undefined): Said | null {
  if (told?.asking == null || told.interrupted === true || text == null) return null;
  return { asking: told.asking.number, from: from ?? 0, text };
}

function useSaid(all: Sayings, task: string, told: Said | null): string {
  const heard = useSyncExternalStore(all.listen, () => all.of(task));
  return shown(whole(all.still(task, told), heard));
}

/** What the tool at work has printed, the last of it. */
export function useOutput(task: string): string {
  return useSyncExternalStore(outputs.listen, () => outputs.of(task));
}

/** A screen shows this conversation: its host tells this page what models write there as it comes, and of no other. */
export function useShows(conversation: string): void {
  const host = useHost();
  const client = useQueryClient();
  useEffect(() => {
    const { shows } = host;
    if (shows === undefined) return undefined;
    // What was written before is asked for.
    void shows.call(host, conversation).then(() => client.invalidateQueries({ queryKey: ["task.show"] }));
    return () => void shows.call(host, null);
  }, [host, client, conversation]);
}

/** How far it is with what takes long; empty where nothing was told. */
export function useHowFar(task: string): string {
  return useSyncExternalStore(doings.listen, () => doings.of(task));
}

function howFar(what: string, done: number, total: number): string {
  return total > 0 ? `${what}: ${Math.floor((Math.min(done, total) / total) * 100)} %` : what;
}

/** Whether a page shows this task as one that nobody works on. */
function isShownInterrupted(client: QueryClient, task: string): boolean {
  const shown = client.getQueriesData<Answer<"task.show">>({ queryKey: ["task.show"] });
  return shown.some(([, data]) => data?.row.task_id === task && data.interrupted === true);
}

class LinkState {
  #link: Link = "opening";
  #listeners = new Set<() => void>();
  set(link: Link) {
    this.#link = link;
    for (const listener of this.#listeners) listener();
  }
  get = () => this.#link;
  listen = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
const link = new LinkState();

export function useLink(): Link {
  return useSyncExternalStore(link.listen, link.get);
}

/** How long a page waits to hear what happens before it shows anything. */
const OPENING_MS = 1000;

/** Whether a page may ask: it hears what happens first, so that nothing falls in between; or cannot hear it by now. */
export function useHears(): boolean {
  const isOpening = useLink() === "opening";
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), OPENING_MS);
    return () => clearTimeout(timer);
  }, []);
  return !isOpening || isLate;
}

/** Asks anew for what may be old, a moment after the first word of it. */
class Refreshing {
  readonly #client: QueryClient;
  readonly #topics = new Set<Topic>();
  readonly #tasks = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: QueryClient) {
    this.#client = client;
  }

  /** Something of these topics happened. */
  topics(topics: readonly Topic[]): void {
    for (const topic of topics) this.#topics.add(topic);
    this.#soon();
  }

  /** Something that is under way in this task was not heard. */
  task(task: string): void {
    this.#tasks.add(task);
    this.#soon();
  }

  /** Who tells something is at work: an answer that says otherwise is old. */
  atWork(task: string): void {
    if (isShownInterrupted(this.#client, task)) this.topics(["tasks"]);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const [topics, tasks] = [new Set(this.#topics), new Set(this.#tasks)];
      this.#topics.clear();
      this.#tasks.clear();
      const isLacking = (params: unknown) => tasks.has((params as { task?: string } | undefined)?.task ?? "");
      void this.#client.invalidateQueries({ predicate: ({ queryKey: [name, params] }) => isStale(name, topics) || (name === "task.show" && isLacking(params)) });
    }, GATHER_MS);
  }
}

/** Takes what a notice tells, and has asked anew what it makes old. */
function hear(notice: Notice, refreshing: Refreshing): void {
  switch (notice.kind) {
    case "delta": case "reasoning": {
      const open = notice.kind === "delta" ? drafts : thoughts;
      const { task_id, asking, from, text } = notice;
      if (open.of(task_id)?.asking !== asking) refreshing.atWork(task_id);
      if (open.hear(task_id, { asking, from, text })) refreshing.task(task_id);
      return;
    }
    case "output":
      refreshing.atWork(notice.task_id);
      outputs.addLast(notice.task_id, notice.text, OUTPUT_KEPT);
      return;
    case "progress":
      if (typeof notice.task_id !== "string") return;
      refreshing.atWork(notice.task_id);
      doings.put(notice.task_id, howFar(notice.what, notice.done, notice.total));
      return;
    case "keys":
      refreshing.topics(["keys"]);
      return;
    case "event":
      doings.clear(notice.task_id);
      if (notice.event_type.startsWith("attempt.") || notice.event_type === "task.status_changed") {
        drafts.end(notice.task_id);
        thoughts.end(notice.task_id);
        outputs.clear(notice.task_id);
      }
      refreshing.topics(notice.topics);
      return;
    default:
      notice satisfies never;
  }
}

/** Keeps the cache fresh for as long as the app stands. */
export function useNotices(): void {
  const host = useHost();
  const client = useQueryClient();
  useEffect(() => {
    const refreshing = new Refreshing(client);
    const stop = host.listen((notice) => hear(notice, refreshing), (now) => {
      link.set(now);
      // What happened in between was not heard, and what was heard before may be of a host that is gone.
      if (now !== "live" || client.getQueryCache().getAll().length === 0) return;
      forget();
      void client.invalidateQueries();
    });
    return () => {
      stop();
      refreshing.end();
      forget();
      link.set("opening");
    };
  }, [host, client]);
}
