import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/tokens.css";
import "./styles/global.css";
import { Shell } from "./primitives/Shell";

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<StrictMode><Shell /></StrictMode>);
