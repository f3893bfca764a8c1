// The text of a passage that was quoted, from its artifact.
import type { Host } from "~/host/host";

/** The text; words in its place where it was erased or cannot be read. */
export async function textOf(host: Host, artifact: string): Promise<string> {
  try {
    const { bytes } = await host.call("artifacts.content", { artifact, offset: 0 });
    return new TextDecoder().decode(Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0)));
  } catch {
    return "(cannot be read)";
  }
}
