// How the server is started, and what is told where it cannot be.

export interface Started {
  command: string;
  args: string[];
}

/** The words of the setting `ptokit.command`; without any, the usual ones. */
export function started(words: unknown): Started {
  const usual = ["ptokit", "lsp"];
  const chosen = Array.isArray(words) && words.every((word) => typeof word === "string") ? words : usual;
  const [command, ...args] = chosen.length ? (chosen as string[]) : usual;
  return { command, args };
}

/** What to do where the command is not there, or ends at once. */
export function advice(problem: unknown, command: string): string {
  const said = problem instanceof Error ? problem.message : String(problem);
  const missing = said.includes("ENOENT") || said.includes("not found");
  return missing
    ? `${command} is not found: pip install 'ptokit[lsp]', or set ptokit.command`
    : `the language server did not start (${said}): pip install 'ptokit[lsp]', or see the output "ptokit"`;
}

/** Whether a text needs the server: a program, or a Python file that imports ptokit. */
export function concerns(language: string, text: string): boolean {
  return language === "pto" || (language === "python" && /^\s*(?:import|from)\s+ptokit\b/m.test(text));
}

/** The settings that the server has, of those of the workspace; no Python is imported untrusted. */
export function options(section: Record<string, unknown>, trusted: boolean): Record<string, unknown> {
  const names = ["targets", "races", "python", "hintTypes", "hintPipes", "hintAddresses"];
  const chosen = names.filter((name) => section[name] !== undefined);
  const found = Object.fromEntries(chosen.map((name) => [name, section[name]]));
  return trusted ? found : { ...found, python: false };
}
