import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/tokens.css";
import "./styles/global.css";
import { Door } from "./app/Door";
import { applyTheme } from "./app/theme";
import { HttpHost, takeToken } from "./host/http";
import { TauriHost, inTauri } from "./host/tauri";
import type { Host } from "./host/host";

applyTheme();
const token = takeToken(location, history);

// One opening at a time: a token works once, and StrictMode asks twice.
let opening: Promise<Host> | null = null;
function open(): Promise<Host> {
  opening ??= (inTauri() ? app() : HttpHost.open(token)).catch((thrown: unknown) => {
    opening = null;
    throw thrown;
  });
  return opening;
}

/** The app's own window begins with the first steps while there are no keys. */
async function app(): Promise<Host> {
  const host = await TauriHost.open();
  if (!host.opened.has_keys && location.hash.length <= 2) history.replaceState(null, "", "#/first");
  return host;
}

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<StrictMode><Door open={open} /></StrictMode>);
