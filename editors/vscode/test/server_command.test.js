"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");

const { candidates, expanded, find } = require("../src/server_command");
const { forServer } = require("../src/server_settings");

const EXE = process.platform === "win32" ? ".exe" : "";
const SCRIPTS = process.platform === "win32" ? "Scripts" : "bin";

function made(...parts) {
  const file = path.join(...parts);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, "#!/bin/sh\necho rlint, version 1.2.3\n", { mode: 0o755 });
  return file;
}

function folder() {
  return fs.mkdtempSync(path.join(os.tmpdir(), "rlint-test-"));
}

test("paths are those that the user means", () => {
  assert.strictEqual(expanded("${workspaceFolder}/bin/rlint", "/work"), path.resolve("/work/bin/rlint"));
  assert.strictEqual(expanded("./bin/rlint", "/work"), path.resolve("/work/bin/rlint"));
  assert.strictEqual(expanded("~/bin/rlint", undefined), path.join(os.homedir(), "bin/rlint"));
  assert.strictEqual(expanded("rlint", "/work"), "rlint");
});

test("the settings have the first word", () => {
  const work = folder();
  const program = made(work, "own", "rlint");
  const python = made(work, "other", "python");
  const given = { folder: work, selected: "/usr/bin/python3" };
  assert.deepStrictEqual(candidates({ ...given, paths: ["nowhere/rlint", "own/rlint"] }), [[program]]);
  assert.deepStrictEqual(candidates({ ...given, interpreters: [python] }), [[python, "-m", "rlint"]]);
});

test("else the selected environment, one in the folder, and PATH", () => {
  const work = folder();
  const python = made(work, ".venv", SCRIPTS, `python${EXE}`);
  const program = made(work, "path", `rlint${EXE}`);
  const before = process.env.PATH;
  process.env.PATH = path.dirname(program);
  try {
    assert.deepStrictEqual(candidates({ folder: work, selected: "/usr/bin/python3" }), [
      ["/usr/bin/python3", "-m", "rlint"],
      [python, "-m", "rlint"],
      [program],
    ]);
    assert.deepStrictEqual(candidates({}), [[program]]);
  } finally {
    process.env.PATH = before;
  }
});

test("the first command that has rlint is taken", { skip: EXE !== "" }, async () => {
  const work = folder();
  const none = made(work, "none", "python");
  fs.writeFileSync(none, "#!/bin/sh\nexit 1\n");
  const program = made(work, "path", "rlint");
  const lines = [];
  const found = await find({ interpreters: [none], paths: [], folder: work }, (line) => lines.push(line));
  assert.strictEqual(found, undefined);
  assert.deepStrictEqual(lines, [`${none} -m rlint: no rlint`]);
  assert.deepStrictEqual(await find({ paths: [program], folder: work }), {
    command: [program],
    version: "1.2.3",
  });
});

test("the server gets what it understands, if the user has set it", () => {
  const given = { path: [], args: [], trace: { server: "off" }, select: null, unsafeFixes: false, run: "onSave" };
  assert.deepStrictEqual(forServer(given), { unsafeFixes: false, run: "onSave" });
  assert.strictEqual(forServer(null), null);
});
