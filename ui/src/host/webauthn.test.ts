import { expect, test } from "vitest";
import { Refused } from "./host";
import { explained, fromBase64url, placeOf, toBase64url } from "./webauthn";

test("bytes go to base64url without padding and come back", () => {
  for (const [bytes, text] of [[[], ""], [[0], "AA"], [[255, 254], "__4"], [[251, 239, 190], "--++".replaceAll("+", "-")], [[104, 105, 33, 0], "aGkhAA"]] as const) {
    expect(toBase64url(Uint8Array.from(bytes))).toBe(text);
    expect([...fromBase64url(text)]).toEqual(bytes);
  }
  for (const wrong of ["A", "AA==", "a+b/", "a b", "ä"]) expect(() => fromBase64url(wrong), wrong).toThrow(Refused);
});

test("a passkey belongs to a name that nobody can read on the way", () => {
  const at = (url: string) => new URL(url);
  expect(placeOf(at("http://localhost:8757"), true, true)).toEqual({ origin: "http://localhost:8757", why: null });
  expect(placeOf(at("https://desk.example/#/"), true, true)).toEqual({ origin: "https://desk.example", why: null });
  expect(placeOf(at("http://127.0.0.1:1"), true, true).why).toBe("address");
  expect(placeOf(at("http://[::1]:1"), true, true).why).toBe("address");
  expect(placeOf(at("http://desk.example"), false, true).why).toBe("insecure");
  expect(placeOf(at("http://localhost"), true, false).why).toBe("absent");
});

test("what a browser does not do is said in plain words, and that nothing came of it", () => {
  const names = ["NotAllowedError", "AbortError", "InvalidStateError", "SecurityError", "NotSupportedError", "ConstraintError"];
  for (const name of names) {
    for (const act of ["add", "allow"] as const) {
      const { code, message, hint } = explained(new DOMException("The operation either timed out", name), act);
      expect(code).toBe("cancelled");
      expect(message).toContain(act === "add" ? "nothing was added" : "nothing was decided");
      expect(message + hint).not.toContain("operation");
      expect(hint).not.toBe("");
    }
  }
  expect(explained(new Error("odd"), "allow").message).toBe("odd; nothing was decided");
  const own = new Refused({ code: "conflict", message: "the passkey was revoked" });
  expect(explained(own, "allow")).toBe(own);
});
