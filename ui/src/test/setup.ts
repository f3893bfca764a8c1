import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// A busy machine is no reason to fail.
configure({ asyncUtilTimeout: 10_000 });

afterEach(() => {
  cleanup();
  document.body.innerHTML = "";
  localStorage.clear();
  sessionStorage.clear();
});

// What jsdom lacks and components ask for.
class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
  takeRecords() { return []; }
}
vi.stubGlobal("ResizeObserver", Observer);
vi.stubGlobal("IntersectionObserver", Observer);
vi.stubGlobal("matchMedia", (query: string) => ({ matches: false, media: query, addEventListener() {}, removeEventListener() {} }));
vi.stubGlobal("DOMMatrixReadOnly", class { m22 = 1; });
// Newer browsers answer with a promise, whatever the types say.
Element.prototype.scrollIntoView = (() => Promise.resolve()) as unknown as () => void;
window.scrollTo = () => {};
