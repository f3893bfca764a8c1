// Where a new file is saved: what a person typed or chose, and until then a place that the app proposes.
import { useEffect, useState } from "react";
import { useHost } from "~/ipc/client";

/**
 * The path of a new file of this name, and how it is set. Empty where nothing is proposed and nothing typed.
 * `made`: what was saved last; another name is proposed after it.
 */
export function useSavePlace(name: string, made: unknown): [string, (path: string) => void] {
  const host = useHost();
  const [proposed, setProposed] = useState("");
  const [typed, setTyped] = useState<string | null>(null);
  useEffect(() => {
    let here = true;
    // Without a proposal the person names a place, as where there is no app.
    void host.savePlace?.(name).then((found) => { if (here && found !== null) setProposed(found); }, () => undefined);
    return () => { here = false; };
  }, [host, name, made]);
  return [typed ?? proposed, setTyped];
}
