"use strict";
// Data reach the page as text only: nodes are made one by one, and no string is read as HTML.
(() => {
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const PAGE = 60; // tasks listed at once
  const LABELS = "ABCDEFGH";
  const DIGEST = 43; // characters of a digest in base64url

  const node = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const drawn = (name, attributes = {}, text = "") => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  };
  // Control, format and private characters are shown by number, but for line breaks.
  const visible = (text) => text.replace(/\t/g, "    ").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) =>
    c === "\n" ? c : `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
  const isolated = (text) => node("bdi", {}, visible(text));
  const plain = (name) => name.replaceAll("_", " ");
  const points = (bps) => `${Math.trunc(bps / 100)}.${String(bps % 100).padStart(2, "0")}`;

  // Theme

  const themeButton = $("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const remembered = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  const isDark = () => (document.documentElement.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";
  const sayTheme = () => themeButton.setAttribute("aria-pressed", String(isDark()));
  if (remembered === "dark" || remembered === "light") document.documentElement.dataset.theme = remembered;
  themeButton.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("theme", next); } catch { /* a page from disk may have no storage */ }
    sayTheme();
  });
  prefersDark.addEventListener("change", sayTheme);
  sayTheme();

  // Leaderboard

  const board = $("board");
  const heads = [...board.tHead.rows[0].cells];
  const lines = [...board.tBodies[0].rows];
  const orderOf = (line, column) => line.cells[column].dataset.order;
  const sortBy = (column, descending) => {
    const numeric = heads[column].classList.contains("number") || /^-?\d+$/.test(orderOf(lines[0], column));
    const compare = numeric
      ? (a, b) => Number(orderOf(a, column)) - Number(orderOf(b, column))
      : (a, b) => (orderOf(a, column) < orderOf(b, column) ? -1 : Number(orderOf(a, column) > orderOf(b, column)));
    const rank = (line) => Number(orderOf(line, 0));
    lines.sort((a, b) => (descending ? -1 : 1) * compare(a, b) || rank(a) - rank(b));
    board.tBodies[0].append(...lines);
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
  };
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const scores = head.dataset.family || head.dataset.panel || head.textContent.trim() === "score";
      sortBy(column, now ? now === "ascending" : Boolean(scores));
    });
  });
  const filterBoard = () => {
    const wanted = $("route-filter").value.trim().toLowerCase();
    let shown = 0;
    for (const line of lines) {
      line.hidden = !line.querySelector("th").textContent.toLowerCase().includes(wanted);
      shown += line.hidden ? 0 : 1;
    }
    $("board-count").textContent = `${shown} of ${lines.length} routes`;
  };
  const filterPart = (part, value) => {
    for (const cell of board.querySelectorAll(`[data-${part}]`)) {
      cell.hidden = Boolean(value) && cell.dataset[part] !== value;
    }
    const column = value ? heads.findIndex((head) => head.dataset[part] === value) : 0;
    sortBy(column, Boolean(value));
  };
  $("route-filter").addEventListener("input", filterBoard);
  for (const part of ["family", "panel"]) {
    $(`${part}-filter`).addEventListener("change", (event) => filterPart(part, event.target.value));
  }
  filterBoard();

  // Evidence

  const data = JSON.parse($("data").textContent);
  const NAMES = data.portfolios;
  const haystacks = data.tasks.map((task) =>
    [task.id, task.anchor, task.region || "", ...task.choices].map(plain).join("\n").toLowerCase());
  const hex = (short) => Array.from(
    atob(short.replaceAll("-", "+").replaceAll("_", "/") + "="),
    (c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  const responseOf = (route, place) => {
    const short = route.responses.slice(place * DIGEST, (place + 1) * DIGEST);
    return /^A+$/.test(short) ? "" : hex(short);
  };
  let starts = null; // for every task the first characters of its own and its responses' digests
  const digestStarts = () => {
    starts ||= data.tasks.map((task, place) => [
      hex(task.digest), ...data.routes.map((route) => responseOf(route, place)),
    ]);
    return starts;
  };

  const search = $("task-search"), list = $("task-list"), panel = $("task");
  let found = [], listed = 0, current = -1;

  const matches = () => {
    const query = plain(search.value.trim().toLowerCase());
    const family = $("task-family").value, set = $("task-panel").value, core = $("task-core").checked;
    const byDigest = /^[0-9a-f]{4,64}$/.test(query) ? digestStarts() : null;
    const dashed = query.replaceAll(" ", "-");
    return data.tasks.map((_, place) => place).filter((place) => {
      const task = data.tasks[place];
      if ((family && task.family !== family) || (set && task.panel !== set) || (core && !task.core)) return false;
      return !query || haystacks[place].includes(query) || haystacks[place].includes(dashed)
        || Boolean(byDigest && byDigest[place].some((start) => start.startsWith(query)));
    });
  };
  const listMore = () => {
    const more = found.slice(listed, listed + PAGE).map((place) => {
      const task = data.tasks[place];
      const button = node("button", { type: "button", "data-place": place },
        isolated(plain(task.anchor)), node("small", {}, visible(task.id)));
      if (place === current) button.setAttribute("aria-current", "true");
      return node("li", {}, button);
    });
    list.append(...more);
    listed += more.length;
    $("more").hidden = listed >= found.length;
  };
  const refresh = () => {
    found = matches();
    listed = 0;
    list.replaceChildren();
    listMore();
    $("task-count").textContent = `${found.length} of ${data.tasks.length} tasks`;
  };

  const copyable = (text, shown = text) => {
    const button = node("button", { type: "button", "aria-label": `Copy ${text}` }, "copy");
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); } catch {
        const area = node("textarea", {}); // where a page from disk may not use the clipboard
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
        button.focus();
      }
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1200);
    });
    return node("span", { class: "copy" }, node("code", {}, shown), button);
  };
  const promptOf = (task) => {
    const block = task.choices.map((name, i) => `${LABELS[i]}. ${plain(name)}`).join("\n");
    return data.templates[task.prompt].replaceAll("\ue001", () => plain(task.anchor)).replaceAll("\ue000", () => block);
  };
  const textOf = (index) => {
    if (index < 0) return node("span", { class: "quiet" }, "nothing came back");
    const text = data.texts[index], length = data.lengths[index];
    const said = node("details", {}, node("summary", {}, `${length.toLocaleString("en")} characters`));
    said.addEventListener("toggle", () => {
      if (!said.open || said.querySelector("pre")) return;
      const cut = length > data.bound ? text.indexOf("\ue002", Math.floor(data.bound / 3)) : -1;
      const whole = cut < 0 ? visible(text)
        : `${visible(text.slice(0, cut))} […] ${visible(text.slice(cut + 1))}`;
      said.append(node("pre", { dir: "auto", tabindex: "0" }, whole));
      if (cut >= 0) said.append(node("p", { class: "quiet" },
        `Cut to ${data.bound.toLocaleString("en")} characters to keep this page small; the audit command shows all of it.`));
    });
    return said;
  };

  const strip = (task, order, counts, marked) => {
    const width = 560, height = 120, step = width / order.length;
    const svg = drawn("svg", { class: "strip", viewBox: `0 0 ${width} ${height + 16}`, role: "img",
      "aria-label": `All ${order.length} scores, best first; bars that routes chose are marked with how many did.` });
    order.forEach((index, place) => {
      const tall = Math.max(1.5, task.scores_bps[index] / 10000 * height);
      const bar = drawn("rect", { x: place * step + 1, y: height - tall, width: step - 2, height: tall, "data-index": index });
      if (counts[index]) bar.classList.add("chosen");
      if (index === marked) bar.classList.add("picked");
      bar.append(drawn("title", {}, `${NAMES[index]} ${points(task.scores_bps[index])}, chosen by ${counts[index]}`));
      svg.append(bar);
      if (counts[index]) svg.append(drawn("text", { x: (place + 0.5) * step, y: height + 11 }, String(counts[index])));
    });
    const chance = height - task.chance_bps / 10000 * height;
    svg.append(drawn("path", { d: `M0 ${chance}H${width}` }));
    return svg;
  };
  const table = (headings, rows, numeric = []) => node("table", {},
    node("thead", {}, node("tr", {}, ...headings.map((text, i) =>
      node("th", { scope: "col", ...(numeric.includes(i) ? { class: "number" } : {}) }, text)))),
    node("tbody", {}, ...rows));
  const members = (task, index) => [...NAMES[index]].map((label) => plain(task.choices[LABELS.indexOf(label)])).join(", ");

  // equal scores share a place, whatever the order of their labels
  const places = (task, order) => {
    const falling = order.map((index) => task.scores_bps[index]);
    return new Map(order.map((index, at) => {
      const first = falling.indexOf(falling[at]);
      return [index, `${first + 1}${falling.lastIndexOf(falling[at]) > first ? "=" : ""}`];
    }));
  };

  const answers = (task, place, order) => {
    const shared = places(task, order);
    const sorted = data.routes.map((route, at) => ({ route, at, index: route.selections[place] }))
      .sort((a, b) => (b.index < 0 ? -1 : task.scores_bps[b.index]) - (a.index < 0 ? -1 : task.scores_bps[a.index]) || a.at - b.at);
    const rows = sorted.map(({ route, index }) => {
      const digest = responseOf(route, place);
      const chosen = index < 0 ? node("td", {}, data.outcomes[-1 - index])
        : node("td", {}, node("b", {}, NAMES[index]), " ", isolated(members(task, index)));
      return node("tr", { "data-index": index },
        node("th", { scope: "row" }, isolated(route.label), route.sees_map ? " †" : ""), chosen,
        node("td", { class: "number score" }, index < 0 ? "" : points(task.scores_bps[index])),
        node("td", { class: "number" }, index < 0 ? "" : shared.get(index)),
        node("td", {}, digest ? copyable(`flavourbench audit ${digest}`, `${digest.slice(0, 8)}…`) : ""),
        node("td", {}, textOf(route.texts[place])));
    });
    return table(["route", "answer", "score", "place of 56", "audit command", "what came back"], rows, [2, 3]);
  };
  const portfolios = (task, order, counts, shared = places(task, order)) => node("details", {},
    node("summary", {}, "All 56 scores as a table"),
    table(["place", "choice", "ingredients", "score", "routes"], order.map((index) => node("tr", {},
      node("td", { class: "number" }, shared.get(index)), node("td", {}, NAMES[index]), node("td", {}, isolated(members(task, index))),
      node("td", { class: "number" }, points(task.scores_bps[index])), node("td", { class: "number" }, String(counts[index])))), [0, 3, 4]));

  const show = (place, focus) => {
    const task = data.tasks[place], digest = hex(task.digest);
    const order = NAMES.map((_, i) => i).sort((a, b) => task.scores_bps[b] - task.scores_bps[a] || a - b);
    const counts = NAMES.map(() => 0);
    for (const route of data.routes) if (route.selections[place] >= 0) counts[route.selections[place]] += 1;
    const best = NAMES[order[0]];
    const facts = { anchor: plain(task.anchor), family: plain(task.family), panel: plain(task.panel),
      stratum: task.stratum, region: task.region, variant: task.variant, chance: points(task.chance_bps),
      margin: points(task.margin_bps), "common core": task.core ? "yes" : "no" };
    const meta = node("dl", { class: "meta" }, ...Object.entries(facts).filter(([, value]) => value !== null)
      .map(([name, value]) => node("div", {}, node("dt", {}, name), node("dd", {}, isolated(String(value))))));
    const choices = node("ol", { class: "choices" }, ...task.choices.map((name, i) =>
      node("li", best.includes(LABELS[i]) ? { class: "best" } : {}, node("b", {}, LABELS[i]), " ", isolated(plain(name)))));
    const holder = node("div", {}, strip(task, order, counts, -1));
    const board = answers(task, place, order);
    const mark = (event) => {
      const line = event.target.closest("tr[data-index]");
      holder.replaceChildren(strip(task, order, counts, line && event.type !== "mouseleave" ? Number(line.dataset.index) : -1));
    };
    for (const kind of ["mouseover", "focusin", "mouseleave"]) board.addEventListener(kind, mark);
    panel.replaceChildren(
      node("h3", {}, visible(task.id)), meta,
      node("h4", {}, `Eight ingredients; the best choice is ${best}`), choices,
      node("details", {}, node("summary", {}, "Prompt"), node("pre", { dir: "auto", tabindex: "0" }, visible(promptOf(task)))),
      node("h4", {}, "All 56 scores, best first; the dashed line is chance"), holder,
      node("p", { class: "quiet" }, "Numbers below the bars: how many routes chose it. Point at a route to mark its bar."),
      portfolios(task, order, counts),
      node("h4", {}, "Answers"), node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answers" }, board),
      node("h4", {}, "Check it yourself"),
      node("div", {}, copyable(digest)),
      node("div", {}, copyable(`flavourbench tasks show ${digest.slice(0, 16)}`)),
      node("div", {}, copyable(`flavourbench audit ${digest}`)));
    current = place;
    for (const button of list.querySelectorAll("button")) {
      if (Number(button.dataset.place) === place) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    if (focus) { panel.focus({ preventScroll: true }); panel.scrollIntoView({ block: "nearest" }); }
  };
  const openFromAddress = () => {
    const name = /^#task=(.+)$/.exec(location.hash);
    const place = name ? data.tasks.findIndex((task) => task.id === name[1]) : -1;
    if (place < 0) return;
    show(place, true);
    panel.scrollIntoView({ block: "start" });
  };

  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    show(Number(button.dataset.place), true);
    history.replaceState(null, "", `#task=${data.tasks[current].id}`);
  });
  $("more").addEventListener("click", listMore);
  search.addEventListener("input", refresh);
  for (const id of ["task-family", "task-panel", "task-core"]) $(id).addEventListener("change", refresh);
  addEventListener("hashchange", openFromAddress);
  refresh();
  if (data.tasks.length) show(0, false);
  openFromAddress();
  document.documentElement.dataset.ready = "true";
})();
