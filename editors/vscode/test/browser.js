"use strict";
// Try the packaged extension in a real VS Code in a browser, and keep screenshots of what it shows:
// a squiggle, a hover, a quick fix, the page of a rule, a notebook, and the problems of a file that is not open.
//
//     CODE_SERVER=…/code-server/out/node/entry.js RLINT=…/bin/rlint node test/browser.js [FOLDER]
//
// Needs `code-server` (npm), Chromium, and `rlint[lsp]`; does nothing where one of them is missing. Pictures and
// the output of the servers go into FOLDER (default: a new one in the system's folder for temporary files).

const assert = require("node:assert");
const childProcess = require("node:child_process");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");

const TIMEOUT = Number(process.env.TIMEOUT ?? 90_000);
const VSIX = path.join(__dirname, "..", "rlint.vsix");

const GROW = `def collect(env, steps):
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards
`;

function onPath(...names) {
  for (const name of names) {
    for (const folder of process.env.PATH.split(path.delimiter)) {
      const file = path.join(folder, name);
      if (fs.existsSync(file)) {
        return file;
      }
    }
  }
  return undefined;
}

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(0);
}

function needed(name, value) {
  return value ?? skip(`${name} is not installed`);
}

function cell(kind, source) {
  const more = kind === "code" ? { execution_count: null, outputs: [] } : {};
  return { cell_type: kind, metadata: {}, source, ...more };
}

function project(folder) {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "rlint.toml"), 'select = ["RL101"]\n');
  for (const name of ["train.py", "closed.py"]) {
    fs.writeFileSync(path.join(folder, name), `import numpy as np\n\n\n${GROW}`);
  }
  const notebook = {
    cells: [
      cell("markdown", "# Collect"),
      cell("code", "%matplotlib inline\nimport numpy as np"),
      cell("code", GROW.trimEnd()),
    ],
    metadata: { kernelspec: { display_name: "Python 3", language: "python", name: "python3" } },
    nbformat: 4,
    nbformat_minor: 5,
  };
  fs.writeFileSync(path.join(folder, "train.ipynb"), JSON.stringify(notebook, null, 1));
}

function settings(folder, rlint) {
  fs.mkdirSync(path.join(folder, "User"), { recursive: true });
  const values = {
    "rlint.path": [rlint],
    "rlint.workspaceDiagnostics": true,
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
    "workbench.welcomePage.walkthroughs.openOnInstall": false,
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": false,
    "editor.minimap.enabled": false,
  };
  fs.writeFileSync(path.join(folder, "User", "settings.json"), JSON.stringify(values));
}

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answers(url) {
  for (let tries = 0; tries < TIMEOUT / 500; tries++) {
    try {
      if ((await fetch(url)).ok) {
        return;
      }
    } catch {
      // not yet
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`${url} does not answer`);
}

async function run(page, command) {
  await page.keyboard.press("F1");
  await page.keyboard.type(`>${command}`.slice(1));
  await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
  await page.keyboard.press("Enter");
}

async function open(page, name) {
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first().dblclick();
  await page.locator(".tab.active", { hasText: name }).first().waitFor();
}

async function tryEverything(page, shoot) {
  // -- a file: squiggle, hover, page of the rule, quick fix
  await open(page, "train.py");
  const squiggle = page.locator(".editor-instance .squiggly-warning").first();
  await squiggle.waitFor({ state: "attached" });
  await page.locator('.statusbar-item[id*="rlint"]').first().waitFor();
  await shoot("squiggle");

  const grown = page.locator(".view-line", { hasText: "np.append" }).locator("span span").last();
  const word = page.locator(".view-line", { hasText: "np.append" }).locator('span:text-is("append")').first();
  await ((await word.count()) ? word : grown).hover();
  const hover = page.locator(".monaco-hover:not(.hidden)", { hasText: "RL101" }).first();
  await hover.waitFor();
  assert.match(await hover.innerText(), /concat-grown-buffer/);
  await shoot("hover");
  await page.locator(".monaco-hover a", { hasText: "Open the page of RL101" }).first().click();
  await page.locator(".tab", { hasText: "RL101.md" }).first().waitFor();
  const preview = page.frameLocator("iframe.webview.ready").frameLocator("iframe");
  await preview.locator("h1", { hasText: "concat-grown-buffer" }).waitFor();
  await shoot("rule-page");
  await page.keyboard.press("Control+W").catch(() => {});
  await open(page, "train.py");

  await page.locator(".view-line", { hasText: "np.append" }).first().click();
  await page.keyboard.press("Control+.");
  const menu = page.locator(".action-widget");
  await menu.waitFor();
  const offered = await menu.innerText();
  assert.match(offered, /rlint \(RL101\)/);
  assert.doesNotMatch(offered, /all findings with safe fixes/); // not in the light bulb
  await shoot("quick-fixes");
  await page.keyboard.press("ArrowUp"); // from the first to the last
  await page.keyboard.press("Enter");
  await page.locator(".view-line", { hasText: "RL101" }).first().waitFor();
  await shoot("explained");
  await page.keyboard.press("Control+K");
  await page.keyboard.press("Control+W"); // all editors
  await page.locator(".tab").first().waitFor({ state: "detached" });
  await open(page, "train.py");
  await page.locator(".view-line", { hasText: "np.append" }).first().click();
  await squiggle.waitFor({ state: "attached" });
  await page.keyboard.press("Control+.");
  await menu.waitFor();
  await page.keyboard.press("Enter"); // the first action is in focus: the preferred one
  await page.locator(".view-line", { hasText: "rewards_parts" }).first().waitFor();
  await squiggle.waitFor({ state: "detached" });
  await shoot("fixed");

  // -- a notebook: squiggle and fix in its cell
  await open(page, "train.ipynb");
  await page.locator(".notebook-editor .view-line", { hasText: "np.append" }).first().waitFor();
  const inCell = page.locator(".notebook-editor .squiggly-warning").first();
  await inCell.waitFor({ state: "attached" });
  await shoot("notebook");
  await page.locator(".notebook-editor .view-line", { hasText: "np.append" }).first().click();
  await page.keyboard.press("Control+.");
  await menu.waitFor();
  await shoot("notebook-quick-fixes");
  await page.keyboard.press("Enter"); // the first action is in focus: the preferred one
  await page.locator(".notebook-editor .view-line", { hasText: "rewards_parts" }).first().waitFor();
  await inCell.waitFor({ state: "detached" });
  await shoot("notebook-fixed");

  // -- a file that is not open is listed among the problems
  await page.keyboard.press("Control+Shift+M");
  await page.locator(".markers-panel .monaco-list-row", { hasText: "closed.py" }).first().waitFor();
  await shoot("problems");

  // -- the server is started again
  await run(page, "rlint: Restart server");
  await page.locator('.statusbar-item[id*="rlint"] .codicon-loading').first().waitFor();
  await page.locator('.statusbar-item[id*="rlint"] .codicon-zap').first().waitFor();
  await shoot("restarted");
}

async function main() {
  const entry = needed("code-server (CODE_SERVER)", process.env.CODE_SERVER ?? onPath("code-server"));
  const chromium = needed("Chromium", onPath("chromium", "chromium-browser", "google-chrome"));
  const rlint = needed("rlint (RLINT)", process.env.RLINT ?? onPath("rlint"));
  if (!fs.existsSync(VSIX)) {
    skip("rlint.vsix is missing: `npm run package`");
  }
  let playwright;
  try {
    playwright = require("playwright-core");
  } catch {
    skip("playwright-core is not installed");
  }
  const folder = path.resolve(process.argv[2] ?? fs.mkdtempSync(path.join(os.tmpdir(), "rlint-vscode-")));
  const work = path.join(folder, "project");
  const data = path.join(folder, "data");
  const extensions = path.join(folder, "extensions");
  fs.rmSync(extensions, { recursive: true, force: true });
  fs.rmSync(data, { recursive: true, force: true });
  project(work);
  settings(data, rlint);
  const start = entry.endsWith(".js") ? [process.execPath, entry] : [entry];
  const places = ["--user-data-dir", data, "--extensions-dir", extensions];
  childProcess.execFileSync(start[0], [...start.slice(1), ...places, "--install-extension", VSIX]);
  const port = await freePort();
  const log = fs.openSync(path.join(folder, "code-server.log"), "w");
  const server = childProcess.spawn(
    start[0],
    [...start.slice(1), ...places, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry",
     "--disable-update-check", work],
    { stdio: ["ignore", log, log] },
  ); // prettier-ignore
  const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(TIMEOUT);
  let number = 0;
  const shoot = async (name) => {
    number += 1;
    await page.waitForTimeout(300); // animations
    await page.screenshot({ path: path.join(folder, `${number}-${name}.png`) });
    console.log(`${name}: ok`);
  };
  try {
    const url = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(work)}`;
    await answers(url);
    await page.goto(url);
    await page.locator(".monaco-workbench").waitFor();
    await tryEverything(page, shoot);
    console.log(`pictures: ${folder}`);
  } catch (error) {
    await shoot("failure");
    throw error;
  } finally {
    await browser.close();
    server.kill();
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
