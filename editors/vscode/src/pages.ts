// Pages of views: what the server gives is a whole HTML page, or an SVG picture.

/** The text of a picture in a page that scrolls, on paper of its own. */
export function picturePage(svg: string, title: string): string {
  const style = "body { background: #fff; color: #000; margin: 12px; } svg { max-width: 100%; height: auto; }";
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>${svg}</body>
</html>`;
}

/** Text in which nothing is markup. */
export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character]);
}

/** The page of an answer of the server. */
export function pageOf(answer: string, title: string): string {
  return answer.trimStart().startsWith("<svg") ? picturePage(answer, title) : answer;
}
