// The text of a passage that was quoted, from its artifact.
import type { Host } from "~/host/host";

/** Where a passage comes from, without the identifier that the log has for it. */
export function sourceOf(name: string): string {
  return name.replace(/\bof att_[0-9a-f]{20,}/, "of a run").replace(/\bof task_[0-9a-f]{20,}/, "of a task").replace(/\bthe (\w+(?: \w+){0,3}) [a-z]{3,5}_[0-9a-f]{20,}/, "a $1");
}

/** The text; words in its place where it was erased or cannot be read. */
export async function textOf(host: Host, artifact: string): Promise<string> {
  try {
    const { bytes } = await host.call("artifacts.content", { artifact, offset: 0 });
    return new TextDecoder().decode(Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0)));
  } catch {
    return "(cannot be read)";
  }
}
