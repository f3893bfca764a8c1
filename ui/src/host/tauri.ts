// The window's own backend. This folder is the only one that may know Tauri.
import { Channel, invoke } from "@tauri-apps/api/core";
import type { CommandName, Commands } from "~/ipc/generated/commands";
import type { Error as WireError, Notice } from "~/ipc/generated/shared";
import { type Heard, type Host, type Lacks, type Link, Refused } from "./host";

function isWireError(value: unknown): value is WireError {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}

export async function ask<T>(command: string, args: Record<string, unknown> = {}): Promise<T> {
  try {
    return await invoke<T>(command, args);
  } catch (thrown) {
    if (isWireError(thrown)) throw new Refused(thrown);
    throw new Refused({ code: "failed", message: String(thrown) });
  }
}

/** How the store was opened. */
export interface Opened { attached: boolean; has_keys: boolean; locked: boolean }

export class TauriHost implements Host {
  readonly kind = "tauri" as const;
  readonly deciding = "window" as const;
  readonly opened: Opened;

  private constructor(opened: Opened) {
    this.opened = opened;
  }

  /** Waits until the store is open; tries again what failed. */
  static async open(): Promise<TauriHost> {
    return new TauriHost(await ask<Opened>("opened"));
  }

  /** `task.list` is the app command `task_list`, so that each stands in the access list by its own name. */
  call<N extends CommandName>(name: N, params: Commands[N]["params"]) {
    return ask<Commands[N]["answer"]>(name.replaceAll(".", "_"), { params });
  }

  listen(notice: (notice: Notice) => void, link: (link: Link) => void): () => void {
    let heard = true;
    const channel = new Channel<Notice | { kind: "link"; link: Link }>();
    channel.onmessage = (one) => {
      if (!heard) return;
      if (one.kind === "link") link(one.link);
      else notice(one);
    };
    link("opening");
    // The app says by the channel whether it hears what happens.
    void ask<void>("listen", { channel }).catch(() => heard && link("lost"));
    return () => {
      heard = false;
    };
  }

  heed(heard: (one: Heard) => void): () => void {
    let here = true;
    const channel = new Channel<Heard>();
    channel.onmessage = (one) => {
      if (here) heard(one);
    };
    void ask<void>("heed", { channel }).catch(() => undefined);
    return () => {
      here = false;
    };
  }

  openCard(approval: string) {
    return ask<void>("open_card", { approval });
  }

  openOverride(act: string) {
    return ask<void>("open_override", { act });
  }

  openProvider() {
    return ask<void>("open_provider");
  }

  openKeys() {
    return ask<void>("open_keys");
  }

  pick(kind: "folder" | "file" | "save", suggested?: string) {
    return ask<string | null>("pick", { kind, suggested: suggested ?? null });
  }

  savePlace(suggested: string) {
    return ask<string | null>("save_place", { suggested });
  }

  reveal(task: string) {
    return ask<void>("reveal", { task });
  }

  lacks() {
    return ask<Lacks>("surfaces");
  }

  autostart(on?: boolean) {
    return ask<boolean>("autostart", { on: on ?? null });
  }
}

export function inTauri(): boolean {
  return "__TAURI_INTERNALS__" in globalThis;
}
