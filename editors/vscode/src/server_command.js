"use strict";
// Which program is started as the language server. Knows nothing of VS Code, so that it can be tested alone.

const childProcess = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const WINDOWS = process.platform === "win32";
const SCRIPTS = WINDOWS ? "Scripts" : "bin";
const EXE = WINDOWS ? ".exe" : "";
const TIMEOUT = 20_000; // milliseconds: a cold start on a slow disk

/** A path as the user meant it. */
function expanded(text, folder) {
  const plain = text.replaceAll("${userHome}", os.homedir()).replace(/^~(?=$|[\\/])/, os.homedir());
  const full = plain.replaceAll("${workspaceFolder}", folder ?? "");
  return folder && /[\\/]/.test(full) ? path.resolve(folder, full) : full;
}

/** Whether a path leads to a file, or a bare name is left to PATH. */
function exists(command) {
  return /[\\/]/.test(command) ? fs.existsSync(command) : onPath(command) !== undefined;
}

/** The file that PATH has for a bare name. */
function onPath(name) {
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const file = path.join(folder, name.endsWith(EXE) ? name : name + EXE);
    if (folder && fs.existsSync(file)) {
      return file;
    }
  }
  return undefined;
}

/**
 * Commands that may start rlint, best first: what the settings name, the selected Python environment, an
 * environment in the workspace folder, PATH. Where the settings name something that exists, nothing else counts.
 */
function candidates({ paths = [], interpreters = [], selected, folder }) {
  const named = [
    ...paths.map((each) => [expanded(each, folder)]),
    ...interpreters.map((each) => [expanded(each, folder), "-m", "rlint"]),
  ].filter(([program]) => exists(program));
  if (named.length > 0) {
    return named;
  }
  const found = [];
  if (selected) {
    found.push([selected, "-m", "rlint"]);
  }
  for (const name of folder ? [".venv", "venv"] : []) {
    const python = path.join(folder, name, SCRIPTS, `python${EXE}`);
    if (fs.existsSync(python) && python !== selected) {
      found.push([python, "-m", "rlint"]);
    }
  }
  const program = onPath("rlint");
  return program ? [...found, [program]] : found;
}

/** The version that a command has of rlint; undefined where it has none. */
function versionOf(command, folder) {
  return new Promise((resolve) => {
    const [program, ...args] = command;
    const options = { cwd: folder, timeout: TIMEOUT, windowsHide: true };
    childProcess.execFile(program, [...args, "--version"], options, (error, stdout) => {
      resolve(error ? undefined : (/\d[\w.+-]*/.exec(stdout)?.[0] ?? stdout.trim()));
    });
  });
}

/** The first command that starts rlint, with its version; undefined where there is none. `log` is told of each. */
async function find(places, log = () => {}) {
  for (const command of candidates(places)) {
    const version = await versionOf(command, places.folder);
    log(`${command.join(" ")}: ${version === undefined ? "no rlint" : `rlint ${version}`}`);
    if (version !== undefined) {
      return { command, version };
    }
  }
  return undefined;
}

module.exports = { candidates, expanded, find };
