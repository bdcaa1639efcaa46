import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";
import { pageOf } from "./pages";
import { advice, concerns, options, started } from "./server";

const PICTURES = { profile: "Profile", memory: "Memory", layout: "Layout" } as const;
type Picture = keyof typeof PICTURES;

let client: LanguageClient | undefined;
let starting: Promise<void> | undefined; // from the first text that needs the server
const views = new Map<Picture, vscode.WebviewPanel>();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  for (const picture of Object.keys(PICTURES) as Picture[]) {
    const shown = () => show(picture);
    context.subscriptions.push(vscode.commands.registerCommand(`ptokit.${picture}`, shown));
  }
  context.subscriptions.push(
    vscode.commands.registerCommand("ptokit.restart", restart),
    vscode.workspace.onDidChangeConfiguration(reconfigured),
    vscode.workspace.onDidGrantWorkspaceTrust(() => client?.sendNotification(CHANGED, { settings: settings() })),
  );
  const seen = (document: vscode.TextDocument) => needed(document);
  context.subscriptions.push(vscode.workspace.onDidOpenTextDocument(seen));
  vscode.workspace.textDocuments.forEach(seen);
}

/** Start the server with the first text that needs it. */
function needed(document: vscode.TextDocument): void {
  if (!starting && concerns(document.languageId, document.getText())) {
    starting = start();
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

const CHANGED = "workspace/didChangeConfiguration";

function settings(): Record<string, unknown> {
  const section = vscode.workspace.getConfiguration().get<Record<string, unknown>>("ptokit") ?? {};
  return options(section, vscode.workspace.isTrusted);
}

async function start(): Promise<void> {
  const words = vscode.workspace.getConfiguration("ptokit").get("command");
  const { command, args } = started(words);
  const made = new LanguageClient("ptokit", "ptokit", { command, args }, {
    documentSelector: [{ language: "pto" }, { language: "python", scheme: "file" }],
    initializationOptions: settings(),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
  });
  try {
    await made.start();
    client = made;
  } catch (problem) {
    void vscode.window.showErrorMessage(advice(problem, command));
  }
}

async function restart(): Promise<void> {
  const old = client;
  client = undefined;
  await old?.stop();
  starting = start();
  await starting;
}

async function reconfigured(change: vscode.ConfigurationChangeEvent): Promise<void> {
  if (change.affectsConfiguration("ptokit.command")) {
    await restart();
  } else if (change.affectsConfiguration("ptokit")) {
    await client?.sendNotification(CHANGED, { settings: settings() });
  }
}

/** Ask the server for a picture of the text in the active editor, and show it beside the text. */
async function show(picture: Picture): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  await starting;
  if (!editor || !client) {
    void vscode.window.showInformationMessage(client ? "Open a kernel first." : "The language server does not run.");
    return;
  }
  const document = editor.document;
  const uri = client.code2ProtocolConverter.asUri(document.uri);
  const position = client.code2ProtocolConverter.asPosition(editor.selection.active);
  const given = picture === "layout" ? [uri, position] : [uri];
  try {
    const params = { command: `ptokit.server.${picture}`, arguments: given };
    const answer = await client.sendRequest<string>("workspace/executeCommand", params);
    const name = document.uri.path.split("/").pop() ?? "kernel";
    display(picture, `${PICTURES[picture]}: ${name}`, answer);
  } catch (problem) {
    void vscode.window.showWarningMessage(problem instanceof Error ? problem.message : String(problem));
  }
}

function display(picture: Picture, title: string, answer: string): void {
  let view = views.get(picture);
  if (view === undefined) {
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    view = vscode.window.createWebviewPanel(`ptokit.${picture}`, title, place, { enableScripts: true });
    view.onDidDispose(() => views.delete(picture));
    views.set(picture, view);
  }
  view.title = title;
  view.webview.html = pageOf(answer, title);
}
