import assert from "node:assert/strict";
import { test } from "node:test";
import { escaped, pageOf } from "../src/pages";
import { advice, concerns, options, started } from "../src/server";

test("the command is the setting's, or the usual one", () => {
  assert.deepEqual(started(["/venv/bin/ptokit", "lsp"]), { command: "/venv/bin/ptokit", args: ["lsp"] });
  for (const wrong of [undefined, [], "ptokit", [1]]) {
    assert.deepEqual(started(wrong), { command: "ptokit", args: ["lsp"] });
  }
});

test("a server that is missing is told with what installs it", () => {
  assert.match(advice(new Error("spawn ptokit ENOENT"), "ptokit"), /^ptokit is not found: pip install/);
  assert.match(advice(new Error("exit 2"), "ptokit"), /did not start \(exit 2\)/);
});

test("an untrusted workspace imports no Python", () => {
  const section = { targets: ["a5"], python: true, command: ["x"] };
  assert.deepEqual(options(section, true), { targets: ["a5"], python: true });
  assert.deepEqual(options(section, false), { targets: ["a5"], python: false });
});

test("a Python file without kernels starts no server", () => {
  assert.ok(concerns("pto", ""));
  assert.ok(concerns("python", "import numpy\nimport ptokit as pto\n"));
  assert.ok(concerns("python", "from ptokit import kernel"));
  assert.ok(!concerns("python", "# import ptokit\nimport ptokitten"));
  assert.ok(!concerns("markdown", "import ptokit"));
});

test("pictures get a page, pages stay", () => {
  const page = pageOf("<svg></svg>", "a & b");
  assert.ok(page.includes("<title>a &amp; b</title>") && page.includes("<svg></svg>"));
  assert.ok(page.includes("default-src 'none'"));
  assert.equal(pageOf("<!DOCTYPE html>", "x"), "<!DOCTYPE html>");
  assert.equal(escaped('<"&>'), "&lt;&quot;&amp;&gt;");
});
