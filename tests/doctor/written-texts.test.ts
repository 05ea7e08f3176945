import { describe, expect, test } from "bun:test";
import { HOLE, textsIn } from "./support/written-texts.ts";

describe("textsIn()", () => {
  // § stands for the dollar of a template.
  test.each([
    ["f(\"a b\", 'c')", ["a b", "c"]],
    ['"it\'s" // "no"\n/* "no" */ "yes"', ["it's", "yes"]],
    ["`Set §{name} in §{file.path}`", [`Set ${HOLE} in ${HOLE}`]],
    ['`a §{of({ b: "in" })} c`', ["in", `a ${HOLE} c`]],
    ["`a §{b ? `c §{d}` : ''}`", [`c ${HOLE}`, "", `a ${HOLE}`]],
    ['"one " +\n  "two"', ["one two"]],
    ['"one " + name', [`one ${HOLE}`]],
    ['name + " two"', [`${HOLE} two`]],
    ["/\"no\"[/']/.test(x) ? 'yes' : 'no'", ["yes", "no"]],
    ["const half = all / 2; f('a'); b / c", ["a"]],
    ['"a \\"b\\" c\\\\"', ['a "b" c\\']],
  ])("finds the texts of %s", (source, texts) => expect(textsIn(source.replaceAll("§", "$"))).toEqual(texts));
});
