// The frame of the app's small windows: the store behind them, and nothing of the main window's.
import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import "~/styles/tokens.css";
import "~/styles/global.css";
import { type Host, type Refused, refusal } from "~/host/host";
import { TauriHost, inTauri } from "~/host/tauri";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import { Loading, Trouble } from "~/primitives/States";
import { applyTheme } from "~/screen/theme";

const client = makeQueryClient();

function Small({ children }: { children: ReactNode }) {
  const [host, setHost] = useState<Host | null>(null);
  const [error, setError] = useState<Refused | null>(null);
  useEffect(() => {
    let here = true;
    TauriHost.open().then((found) => here && setHost(found), (thrown) => here && setError(refusal(thrown)));
    return () => { here = false; };
  }, []);
  if (error !== null) return <Trouble error={error} what="the store" />;
  if (host === null) return <Loading what="the store" />;
  return <HostProvider value={host}><QueryClientProvider client={client}>{children}</QueryClientProvider></HostProvider>;
}

export function mount(children: ReactNode): void {
  applyTheme();
  const root = document.getElementById("root");
  if (root === null) return;
  const what = inTauri() ? <Small>{children}</Small> : <p>This page is a window of the Hermit app.</p>;
  createRoot(root).render(<StrictMode>{what}</StrictMode>);
}
