"use strict";
// Starts `rlint server` and shows whether it runs. What rlint finds and fixes is the server's business.

const vscode = require("vscode");
const { DidChangeConfigurationNotification, LanguageClient, State } = require("vscode-languageclient/node");

const { find } = require("./server_command");
const { forServer } = require("./server_settings");

const RESTARTING = ["rlint.path", "rlint.interpreter", "rlint.args"];
const INSTALL = "https://pypi.org/project/rlint/";

let client;
let output;
let status;
let starting = Promise.resolve();

// What the server says of a line: read-only documents, of which VS Code does not ask whether to save them.
const EXPLAINED = "rlint-explanation";
const explanations = new Map();

async function showExplanation(text) {
  const line = text.split(/\s/, 1)[0].replace(/[^\w.:-]+/g, "_");
  const uri = vscode.Uri.from({ scheme: EXPLAINED, path: `/${line}.txt` });
  explanations.set(uri.path, text);
  explained.fire(uri);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

const explained = new vscode.EventEmitter();

/** The interpreter that the Python extension has selected, if it is installed. */
async function selectedInterpreter(folder) {
  const extension = vscode.extensions.getExtension("ms-python.python");
  if (!extension) {
    return undefined;
  }
  try {
    const api = extension.isActive ? extension.exports : await extension.activate();
    const chosen = api?.environments?.getActiveEnvironmentPath(folder?.uri);
    const environment = chosen && (await api.environments.resolveEnvironment(chosen));
    return environment?.executable?.uri?.fsPath;
  } catch (error) {
    output.warn(`the Python extension does not give an interpreter: ${error}`);
    return undefined;
  }
}

async function onInterpreterChange(context) {
  const extension = vscode.extensions.getExtension("ms-python.python");
  const api = extension && (extension.isActive ? extension.exports : await extension.activate());
  const changed = api?.environments?.onDidChangeActiveEnvironmentPath;
  if (changed) {
    context.subscriptions.push(changed(() => restart()));
  }
}

function show(icon, tooltip, isError = false) {
  status.text = `$(${icon}) rlint`;
  const text = new vscode.MarkdownString(
    `${tooltip}\n\n[Show output](command:rlint.showOutput) · [Restart](command:rlint.restart)`,
  );
  text.isTrusted = { enabledCommands: ["rlint.showOutput", "rlint.restart"] };
  status.tooltip = text;
  status.backgroundColor = isError ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
  status.show();
}

async function start() {
  const folder = vscode.workspace.workspaceFolders?.[0];
  const settings = vscode.workspace.getConfiguration("rlint", folder);
  show("loading~spin", "rlint is starting");
  const places = {
    paths: settings.get("path"),
    interpreters: settings.get("interpreter"),
    selected: await selectedInterpreter(folder),
    folder: folder?.uri.fsPath,
  };
  const found = await find(places, (line) => output.info(line));
  if (found === undefined) {
    show("error", "rlint was not found", true);
    const message =
      "rlint was not found: install it into the Python environment of this workspace (`pip install 'rlint[lsp]'`), or set `rlint.path`.";
    output.error(message);
    vscode.window.showWarningMessage(message, "How to install", "Settings").then((choice) => {
      if (choice === "Settings") {
        vscode.commands.executeCommand("workbench.action.openSettings", "rlint.path");
      } else if (choice) {
        vscode.env.openExternal(vscode.Uri.parse(INSTALL));
      }
    });
    return;
  }
  const [program, ...args] = found.command;
  const run = {
    command: program,
    args: [...args, "server", ...settings.get("args", [])],
    options: { cwd: places.folder, env: { ...process.env, PYTHONUNBUFFERED: "1" } },
  };
  client = new LanguageClient("rlint", "rlint", run, {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
      { scheme: "vscode-notebook-cell", language: "python" },
    ],
    outputChannel: output,
    initializationOptions: { rulePages: "markdown", explanations: "returned" },
    diagnosticPullOptions: { onChange: true, onSave: true },
    middleware: {
      executeCommand: async (command, args, next) => {
        const result = await next(command, args);
        if (command === "rlint.explain" && typeof result === "string") {
          await showExplanation(result);
        }
        return result;
      },
      workspace: {
        configuration: async (params, token, next) => {
          const values = await next(params, token);
          return Array.isArray(values) ? values.map(forServer) : values;
        },
        // The server asks for the settings of each folder when it hears of a change.
        didChangeConfiguration: () =>
          client?.sendNotification(DidChangeConfigurationNotification.type, { settings: null }),
      },
    },
  });
  client.onDidChangeState(({ newState }) => {
    if (newState === State.Running) {
      show("zap", `rlint ${found.version}: \`${found.command.join(" ")}\``);
    } else if (newState === State.Stopped) {
      show("error", "The rlint server has stopped", true);
    }
  });
  try {
    await client.start();
  } catch (error) {
    show("error", `rlint ${found.version} could not be started`, true);
    output.error(`${run.command} ${run.args.join(" ")}: ${error}`);
    const choice = await vscode.window.showErrorMessage(
      "The rlint server could not be started. It needs `pip install 'rlint[lsp]'`.",
      "Show output",
    );
    if (choice) {
      output.show();
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running?.needsStop()) {
    await running.stop();
  }
}

/** Start the server anew. One restart waits for the other. */
function restart() {
  starting = starting
    .then(stop)
    .then(start)
    .catch((error) => {
      output.error(String(error));
      show("error", "rlint could not be started", true);
    });
  return starting;
}

async function activate(context) {
  output = vscode.window.createOutputChannel("rlint", { log: true });
  status = vscode.window.createStatusBarItem("rlint", vscode.StatusBarAlignment.Right);
  status.name = "rlint";
  status.command = "rlint.showOutput";
  context.subscriptions.push(
    output,
    status,
    vscode.workspace.registerTextDocumentContentProvider(EXPLAINED, {
      onDidChange: explained.event,
      provideTextDocumentContent: (uri) => explanations.get(uri.path) ?? "",
    }),
    vscode.commands.registerCommand("rlint.restart", restart),
    vscode.commands.registerCommand("rlint.showOutput", () => output.show()),
    vscode.commands.registerCommand("rlint.fixAll", () =>
      vscode.commands.executeCommand("editor.action.sourceAction", {
        kind: "source.fixAll.rlint",
        apply: "first",
      }),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (RESTARTING.some((name) => event.affectsConfiguration(name))) {
        restart();
      }
    }),
  );
  onInterpreterChange(context).catch((error) => output.warn(String(error)));
  await restart();
}

module.exports = { activate, deactivate: stop };
