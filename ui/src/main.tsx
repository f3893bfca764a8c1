import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/tokens.css";
import "./styles/global.css";
import { Connect } from "./app/Connect";
import { keepShell } from "./app/shell";
import { applyTheme } from "./screen/theme";
import { HttpHost, hearSessions, hearTokens, takeToken } from "./host/http";
import { TauriHost, inTauri } from "./host/tauri";
import type { Host } from "./host/host";
import { placeOf } from "./host/webauthn";

applyTheme();
if (!inTauri()) keepShell();
const token = takeToken(location, history);
if (!inTauri()) hearTokens(window, () => location.reload());

// One opening at a time: a token works once, and StrictMode asks twice.
let opening: Promise<Host> | null = null;
function open(): Promise<Host> {
  opening ??= begin().catch((thrown: unknown) => {
    opening = null;
    throw thrown;
  });
  return opening;
}

async function hasKeys(host: Host): Promise<boolean> {
  return (await host.call("keys.list", {})).keys.some((key) => key.purpose === "approval");
}

/** A store without keys begins with the first steps, in the app's own window and in a browser alike. */
async function begin(): Promise<Host> {
  const host = await (inTauri() ? TauriHost.open() : HttpHost.open(token));
  if (location.hash.length <= 2 && !(await hasKeys(host))) history.replaceState(null, "", "#/first");
  return host;
}

/** An installed page has lost its session when it was closed; a passkey of its origin brings another. */
const signIn = !inTauri() && placeOf(location, globalThis.isSecureContext === true, typeof PublicKeyCredential !== "undefined").origin !== null
  ? () => HttpHost.signIn()
  : undefined;

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<StrictMode><Connect open={open} signIn={signIn} hear={inTauri() ? undefined : hearSessions} /></StrictMode>);
