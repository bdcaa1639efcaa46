import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { OnigScanner, OnigString, loadWASM } from "vscode-oniguruma";
import { INITIAL, Registry, parseRawGrammar } from "vscode-textmate";

const GRAMMAR = "syntaxes/pto.tmLanguage.json";

async function grammar() {
  await loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
  const onigLib = Promise.resolve({
    createOnigScanner: (patterns: string[]) => new OnigScanner(patterns),
    createOnigString: (text: string) => new OnigString(text),
  });
  const loadGrammar = async () => parseRawGrammar(readFileSync(GRAMMAR, "utf8"), GRAMMAR);
  const found = await new Registry({ onigLib, loadGrammar }).loadGrammar("source.pto");
  assert.ok(found);
  return found;
}

// what stands in a line -> the last scope that it has
const LINES: [string, Record<string, string>][] = [
  ["// a comment", { "// a comment": "comment.line.double-slash.pto" }],
  ["# another", { "# another": "comment.line.number-sign.pto" }],
  [
    "func.func private @scale(%x: !pto.ptr<f32>) {",
    {
      "func.func": "keyword.declaration.pto",
      private: "storage.modifier.pto",
      "@scale": "entity.name.function.pto",
      "%x": "variable.other.pto",
      "!pto.ptr": "entity.name.type.pto",
      f32: "storage.type.pto",
    },
  ],
  [
    "!T = !pto.tile_buf<loc=vec, dtype=f16, rows=16, cols=32>",
    { "!T": "entity.name.type.pto", loc: "variable.parameter.pto", vec: "constant.language.pto",
      f16: "storage.type.pto", "16": "constant.numeric.pto" },
  ],
  ["%p = pto.tensor_view<?x?xf16>", { "%p": "variable.other.pto" }],
  [
    "  pto.tcvt ins(%w {rmode = #pto<round_mode RINT>} : !F) outs(%t : !B)",
    { "pto.tcvt": "support.function.pto", ins: "keyword.other.pto", rmode: "variable.parameter.pto",
      RINT: "constant.language.pto", "!B": "entity.name.type.pto" },
  ],
  [
    "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]",
    { "pto.set_flag": "support.function.pto", PIPE_MTE2: "constant.language.pto", EVENT_ID0: "constant.language.pto" },
  ],
  ["scf.for %i = %c0 to %n step %c1 {", { "scf.for": "keyword.control.pto", to: "keyword.other.pto", step: "keyword.other.pto" }],
  ["%y = texp %x // e", { texp: "support.function.pto", "// e": "comment.line.double-slash.pto" }],
  ["%c = arith.constant -1.5e3 : f32", { "arith.constant": "support.function.pto", "-1.5e3": "constant.numeric.pto", f32: "storage.type.pto" }],
  ["cf.br ^bb1(%a : index)", { "cf.br": "keyword.control.pto", "^bb1": "entity.name.label.pto", index: "storage.type.pto" }],
];

test("each part of a line has its scope", async () => {
  const found = await grammar();
  const wrong: string[] = [];
  for (const [line, wanted] of LINES) {
    const { tokens } = found.tokenizeLine(line, INITIAL);
    const scopes = new Map(tokens.map((token) => [line.slice(token.startIndex, token.endIndex).trim(), token.scopes.at(-1)]));
    for (const [part, scope] of Object.entries(wanted)) {
      if (scopes.get(part) !== scope) wrong.push(`${line}: ${part} is ${scopes.get(part)}, not ${scope}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("what a line leaves open does not colour the next one", async () => {
  const found = await grammar();
  const open = found.tokenizeLine('print "no end', INITIAL).ruleStack;
  const { tokens } = found.tokenizeLine("scf.for", open);
  assert.equal(tokens[0].scopes.at(-1), "keyword.control.pto");
});
