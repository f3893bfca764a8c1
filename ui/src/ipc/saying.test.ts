import { expect, test } from "vitest";
import { type Said, Sayings, shown, whole } from "./saying";

const said = (asking: number, from: number, text: string): Said => ({ asking, from, text });

test("words that a page heard and those its host had of the same answer are one text, each piece once", () => {
  for (const [told, heard, text] of [
    [null, said(7, 0, "once upon"), "once upon"],
    [said(7, 0, "once upon"), null, "once upon"],
    [said(7, 0, "once upon"), said(7, 5, "upon a time"), "once upon a time"],
    [said(7, 0, "once "), said(7, 5, "upon"), "once upon"],
    [said(7, 0, "once"), said(7, 0, "once upon a time"), "once upon a time"],
    [said(7, 0, "once upon a time"), said(7, 5, "upon"), "once upon a time"],
    // The same words twice are twice there.
    [said(7, 0, "ha "), said(7, 3, "ha "), "ha ha "],
    [said(7, 0, "😀 ha "), said(7, 6, "ha "), "😀 ha ha "],
    // What lacks something in the middle begins behind it.
    [said(7, 0, "once"), said(7, 10, "a time"), "… a time"],
    // Words of two askings are never one text, whichever of them was heard.
    [said(7, 0, "Once there"), said(8, 0, "Again"), "Again"],
    [said(8, 0, "Again"), said(7, 0, "Once there"), "Again"],
  ] as const) expect(shown(whole(told, heard)), `${JSON.stringify(told)} ${JSON.stringify(heard)}`).toBe(text);
});

test("a piece that came already is not told again, one that was lost is missed, and another asking begins anew", () => {
  const all = new Sayings();
  expect(all.hear("t", said(7, 0, "once "))).toBe(false);
  expect(all.hear("t", said(7, 5, "upon "))).toBe(false);
  expect(all.hear("t", said(7, 5, "upon "))).toBe(false);
  expect(shown(all.of("t"))).toBe("once upon ");
  expect(all.hear("t", said(7, 12, "time"))).toBe(true);
  expect(all.hear("other", said(3, 4, "there"))).toBe(true);
  expect(all.hear("t", said(8, 0, "Again"))).toBe(false);
  expect(shown(all.of("t"))).toBe("Again");
});

test("what an older answer of the host tells of an answer that is over is not told again, until it goes on", () => {
  const all = new Sayings();
  all.hear("t", said(7, 0, "once"));
  all.end("t");
  expect(all.of("t")).toBeNull();
  expect(all.still("t", said(7, 0, "once"))).toBeNull();
  expect(all.still("t", said(8, 0, "Again"))).toEqual(said(8, 0, "Again"));
  expect(all.hear("t", said(7, 4, " upon")), "what came before is asked for").toBe(true);
  expect(shown(whole(all.still("t", said(7, 0, "once")), all.of("t")))).toBe("once upon");
});
