// The playground: a text is sent to a worker, in which Python and ptokit run; what comes is shown.
(() => {
  const page = document.getElementById("kernel-playground");
  const part = (name) => page.querySelector(`[data-part="${name}"]`);
  const [text, lines, status, result, picture] = ["text", "lines", "status", "result", "picture"].map(part);
  const examples = JSON.parse(part("examples").textContent);
  const here = document.currentScript.src;
  let worker = null, waiting = null;

  // in the worker: Python is loaded once, then each request is a call of inbrowser.answer
  const work = `
    let ready = null;
    const load = async ({ pyodide, wheel, glue }) => {
      const say = (words) => postMessage({ status: words });
      say("Python is loaded ...");
      const { loadPyodide } = await import(pyodide + "pyodide.mjs");
      const python = await loadPyodide({ indexURL: pyodide });
      say("NumPy is loaded ...");
      await python.loadPackage(["numpy", "ml-dtypes", "click"]);
      say("ptokit is loaded ...");
      const bytes = Uint8Array.from(atob(wheel), (one) => one.charCodeAt(0));
      python.unpackArchive(bytes, "wheel", { extractDir: "/ptokit" });
      python.FS.writeFile("/ptokit/inbrowser.py", glue);
      return python.runPython("import sys; sys.path.insert(0, '/ptokit'); from inbrowser import answer; answer");
    };
    onmessage = async ({ data }) => {
      try {
        ready = ready ?? load(data.load);
        await ready;
      } catch (problem) {
        ready = null;
        postMessage({ failed: "Python cannot be loaded: " + (problem?.message ?? problem) });
        return;
      }
      try {
        const answer = (await ready)(JSON.stringify(data.asked));
        postMessage({ answer: JSON.parse(answer) });
      } catch (problem) {
        postMessage({ failed: String(problem?.message ?? problem) });
      }
    };`;

  const element = (name, words = "", kind = "") => {
    const made = document.createElement(name);
    made.textContent = words;
    made.className = kind;
    return made;
  };

  const fetched = () => new Promise((done, failed) => {
    if (window.ptokitPlayground) return done(window.ptokitPlayground);
    const script = element("script");
    script.src = new URL("playground-wheel.js", here).href;
    script.onload = () => done(window.ptokitPlayground);
    script.onerror = () => failed(new Error("playground-wheel.js cannot be loaded"));
    document.head.append(script);
  });

  const busy = (words) => {
    status.textContent = words;
    page.classList.toggle("busy", waiting !== null);
    for (const button of page.querySelectorAll("button[data-do]")) button.disabled = waiting !== null;
    part("stop").hidden = waiting === null;
  };

  const stop = (words) => {
    worker?.terminate();
    worker = waiting = null;
    busy(words);
  };

  const ask = async (asked, shown) => {
    if (location.protocol === "file:") {
      const command = "python3 -m http.server";
      return busy(`A page that is opened as a file starts no Python: run ${command} in its folder, and open http://localhost:8000/playground.html`);
    }
    waiting = shown;
    busy("...");
    try {
      const { wheel, glue } = await fetched();
      if (!worker) {
        worker = new Worker(URL.createObjectURL(new Blob([work], { type: "text/javascript" })), { type: "module" });
        worker.onerror = (problem) => stop(problem.message || "the worker cannot be started");
        worker.onmessage = ({ data }) => {
          if (data.status !== undefined) return busy(data.status);
          const done = waiting;
          waiting = null;
          busy("");
          if (data.failed !== undefined) show(plain(data.failed));
          else done(data.answer);
        };
      }
      worker.postMessage({ asked, load: { pyodide: page.dataset.pyodide, wheel, glue } });
    } catch (problem) {
      stop(problem.message);
    }
  };

  const number = () => {
    const count = text.value.split("\n").length;
    lines.textContent = Array.from({ length: count }, (_, n) => n + 1).join("\n");
    lines.scrollTop = text.scrollTop;
  };

  const mark = (line) => {
    const rows = text.value.split("\n");
    const start = rows.slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
    text.focus();
    text.setSelectionRange(start, start + (rows[line - 1] ?? "").length);
    text.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(text).lineHeight));
  };

  const told = (problems) => problems.map((one) => {
    const item = element("li", "", one.severity);
    const head = element("div", "", "head");
    if (one.line) {
      const place = element("button", `line ${one.line}`, "place");
      place.type = "button";
      place.onclick = () => mark(one.line);
      head.append(place, " ");
    }
    const where = one.targets.length ? ` (${one.targets.join(", ")})` : "";
    const page = element("a", one.slug);
    page.href = new URL(`reference/diagnostics/${one.slug}.html`, here).href;
    head.append(page, `: ${one.message}${where}`);
    item.append(head);
    for (const fact of ["rule", "when", "seen", "help"]) {
      if (one[fact]) item.append(element("div", `${fact}: ${one[fact]}`, "fact"));
    }
    return item;
  });

  const show = (...parts) => result.replaceChildren(...parts.filter(Boolean));
  const list = (problems) => {
    const made = element("ul", "", "problems");
    made.append(...told(problems));
    return problems.length ? made : null;
  };
  const plain = (words) => (words ? element("pre", words) : null);

  const actions = {
    check: () => ask({ do: "check", ...written() }, (found) => {
      const verdicts = element("div", "", "verdicts");
      for (const one of found.verdicts) {
        const name = found.verdicts.length > 3 ? `${one.kernel.split(":").pop()} on ` : "";
        const badge = element("span", `${name}${one.target}: ${one.verdict}`, one.verdict);
        badge.title = one.reason;
        verdicts.append(badge);
      }
      show(verdicts, list(found.diagnostics), plain(found.text));
    }),
    run: () => ask(
      { do: "run", ...written(), arguments: part("arguments").value, target: part("target").value },
      (found) => show(list(found.diagnostics), plain(found.text)),
    ),
    layout: () => ask(
      { do: "layout", ...Object.fromEntries(["dtype", "shape", "layout"].map((name) => [name, part(name).value])) },
      (found) => {
        picture.innerHTML = found.svg;
        if (!found.svg) picture.replaceChildren(...[list(found.diagnostics), plain(found.text)].filter(Boolean));
      },
    ),
  };
  const chosen = part("example");
  const written = () => ({ text: text.value, language: examples[chosen.value].language });

  for (const button of page.querySelectorAll("button[data-do]")) button.onclick = () => actions[button.dataset.do]();
  part("stop").onclick = () => stop("stopped");
  text.addEventListener("input", number);
  text.addEventListener("scroll", () => { lines.scrollTop = text.scrollTop; });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) actions.check();
  });
  for (const [name, { title }] of Object.entries(examples)) chosen.append(new Option(title, name));
  const choose = () => {
    const one = examples[chosen.value];
    text.value = one.text;
    part("arguments").value = one.arguments;
    number();
    show();
  };
  chosen.onchange = choose;
  choose();
})();
