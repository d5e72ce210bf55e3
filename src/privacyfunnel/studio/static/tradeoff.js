// The trade-off: the curve grows while it is searched; click, slider or table choose a release.
"use strict";

const place = document.getElementById("tradeoff");
const plot = document.getElementById("plot");
const form = document.getElementById("choose");
const slider = document.getElementById("slider");
const value = document.getElementById("value");
const soft = document.getElementById("soft");
const dark = matchMedia("(prefers-color-scheme: dark)");
const readable = place.dataset.recoding !== "symbols";
const KEPT = place.dataset.kept; // the name of what is kept: utility, or kept of the columns
const hasLimit = !readable && place.dataset.plain !== undefined;
const short = (words, most) => (words.length <= most ? words : words.slice(0, most).replace(/\s+\S*$/, "") + "…");
const NAMES = { global: "global recoding", local: "local recoding", symbols: "symbols" };
const state = { points: [], soft: [], noise: [], others: {}, whole: 0, free: 0, chosen: null, ready: false };

const counted = (n) => n.toLocaleString("en-US");
// As the server writes shares, only shorter at the ends.
const inPercent = (share) =>
  share > 1e-12 && share < 1e-4 ? "<0.01%" : `${Number((100 * share).toFixed(share < 0.01 ? 2 : 1))}%`;
const by = () => form.elements.by.value;
const share = (field) => String(Number((Number(field.value) / 100).toFixed(8))); // of a field in percent
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function curve(points, name, ink, extra) {
  return {
    x: points.map((p) => p.kept),
    y: points.map((p) => p.leakage),
    name,
    mode: "lines+markers",
    cliponaxis: false, // points that give away nothing are on the axis
    line: { color: ink, width: 2 },
    hovertemplate: "keeps %{x:.1%}<br>gives away %{y:.1%}<extra>" + name + "</extra>",
    ...extra,
  };
}

// A release without lots is one by lot, too, and so is any mixture of two: the lower hull of all.
function byLot() {
  const all = [...state.soft, ...state.points].sort((a, b) => a.kept - b.kept || b.leakage - a.leakage);
  const hull = [];
  const turns = (a, b, c) => (b.kept - a.kept) * (c.leakage - a.leakage) - (b.leakage - a.leakage) * (c.kept - a.kept);
  for (const point of all) {
    while (hull.length > 1 && turns(hull.at(-2), hull.at(-1), point) <= 0) hull.pop();
    if (hull.length === 1 && hull[0].leakage >= point.leakage) hull.pop();
    hull.push(point);
  }
  return hull;
}

function traces() {
  const edge = [{ kept: 0, leakage: 0 }, { kept: state.free, leakage: 0 }, { kept: 1, leakage: state.whole }];
  const [blue, red, ink, grey] = ["blue", "red", "ink", "soft"].map(colour);
  const drawn = [];
  if (hasLimit) {
    drawn.push(curve(edge, "limit: no release can be below", red, {
      mode: "lines", fill: "tozeroy", fillcolor: colour("pink"), hoverinfo: "skip", hovertemplate: null,
    }));
  }
  for (const [kind, points] of Object.entries(state.others)) {
    const tint = kind === "symbols" ? grey : red;
    const mode = points.length > 1 ? "lines" : "markers"; // a line of one point is not seen
    drawn.push(curve(points, NAMES[kind], tint, { mode, marker: { color: tint, size: 7 }, line: { color: tint, dash: "dot", width: 2 } }));
  }
  if (state.noise.length) {
    drawn.push(curve(state.noise, "plain noise (differential privacy)", grey, { mode: "lines", line: { color: grey, dash: "dot", width: 2 } }));
  }
  if (state.soft.length) {
    const green = dark.matches ? "#6fcf97" : "#1c7d4d";
    drawn.push(curve(byLot(), "releases by lot", green, { marker: { symbol: "diamond", size: 8 }, meta: "soft" }));
  }
  const size = state.points.length > 40 ? 6 : 9;
  const ring = { color: colour("paper"), size, line: { color: blue, width: 1.5 } }; // overlapping rings stay rings
  drawn.push(curve(state.points, readable ? NAMES[place.dataset.recoding] : "releases found", blue, { marker: ring, meta: "hard" }));
  const proved = state.points.filter((p) => p.proved);
  if (proved.length) {
    drawn.push(curve(proved, "proved optimal", blue, { mode: "markers", marker: { color: blue, size }, hoverinfo: "skip", hovertemplate: null }));
  }
  drawn.push({
    x: [1], y: [state.whole], name: "published as it is", mode: "markers", cliponaxis: false,
    marker: { symbol: "star", size: 14, color: ink },
    hovertemplate: "keeps all<br>gives away %{y:.1%}<extra></extra>",
  });
  if (state.chosen) {
    drawn.push({
      x: [state.chosen.kept], y: [state.chosen.leakage], name: "chosen", mode: "markers", cliponaxis: false,
      marker: { symbol: "circle", size: 16, color: ink, line: { color: colour("paper"), width: 2 } },
      hovertemplate: "chosen: keeps %{x:.1%}<br>gives away %{y:.1%}<extra></extra>",
    });
  }
  return drawn;
}

function draw() {
  if (!window.Plotly) return; // drawn when it is there
  const narrow = plot.clientWidth < 560;
  const axis = { color: colour("soft"), gridcolor: colour("line"), zeroline: false, fixedrange: true, tickformat: ".0%", ticks: "outside", ticklen: 6, tickcolor: "rgba(0,0,0,0)" };
  const family = getComputedStyle(document.body).fontFamily;
  const top = Math.max(0.02, state.whole, state.chosen ? state.chosen.leakage : 0);
  Plotly.react(plot, traces(), {
    font: { family, size: narrow ? 12 : 14, color: colour("ink") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: narrow ? 60 : 76, r: 16, t: 12, b: narrow ? 150 : 100 },
    dragmode: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: colour("box"), bordercolor: colour("line"), font: { color: colour("ink") } },
    legend: { orientation: "h", x: 0, y: narrow ? -0.22 : -0.17, yanchor: "top", font: { size: narrow ? 11 : 13 } },
    xaxis: { ...axis, title: { text: narrow ? short(place.dataset.keeps, 40) : place.dataset.keeps, standoff: 10 }, range: [-0.03, 1.03] },
    yaxis: { ...axis, title: { text: place.dataset.tells, standoff: 10 }, range: [-0.03 * top, 1.06 * top] },
  }, { displayModeBar: false, responsive: true });
}

// Which point meets the target, before it is looked up exactly; asked for when the slider rests.
let asked = 0;
async function tellNearest() {
  document.getElementById("of").textContent =
    place.dataset.plain === undefined ? "" : by() !== KEPT ? "of the sensitive information" : readable ? "of the public columns" : "of the public information";
  const mine = ++asked;
  await new Promise((go) => setTimeout(go, 50));
  if (mine !== asked) return;
  const target = new URLSearchParams({ by: by(), value: share(value), ...(soft.checked ? { soft: "on" } : {}) });
  const answer = await fetch(`/nearest?${target}`).catch(() => null);
  const words = answer?.ok ? (await answer.json()).words : "";
  if (mine === asked) document.getElementById("nearest").textContent = words;
}

function listPoints() {
  const rows = state.points.map((point) => {
    const row = document.createElement("tr");
    const limit = readable || point.limit == null ? "" : inPercent(point.limit);
    for (const words of [inPercent(point.kept), inPercent(point.leakage), limit, counted(point.n_symbols)]) {
      const cell = row.insertCell();
      cell.className = "n";
      cell.textContent = words;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Choose";
    button.setAttribute("aria-label", `Choose the release that keeps ${inPercent(point.kept)}`);
    button.addEventListener("click", () => choosePoint(point, false));
    row.insertCell().append(button);
    return row;
  });
  document.querySelector("#points tbody").replaceChildren(...rows);
  document.getElementById("points").hidden = !state.ready;
}

function complain(words) {
  const fault = document.getElementById("fault");
  fault.textContent = words;
  fault.hidden = !words;
}

function choosePoint(point, isSoft) {
  form.elements.by.value = KEPT;
  soft.checked = isSoft;
  // Rounded down, so that the point itself keeps enough.
  value.value = String(Math.floor(point.kept * 1e4 - 1e-9 > 0 ? point.kept * 1e4 + 1e-9 : 0) / 100);
  slider.value = value.value;
  choose();
}

let latest = 0;
async function choose() {
  if (!form.reportValidity()) return;
  const mine = ++latest;
  tellNearest();
  complain("");
  const fields = { by: by(), value: share(value) };
  if (by() === "caps") {
    const caps = [...form.querySelectorAll(".caps input")].filter((field) => field.value !== "");
    if (!caps.length) return;
    for (const field of caps) fields[field.id] = share(field);
  }
  if (soft.checked) fields.soft = "on";
  const wait = document.getElementById("choice-state");
  begin(wait, "Looking up this release.");
  try {
    const started = await post("/choose", fields);
    await follow(started.job, () => mine === latest);
  } catch (fault) {
    if (mine !== latest) return;
    end(wait);
    complain(fault.message);
  }
}

let chosenBy = ""; // the task that looks up the choice
document.querySelector("#choice-state .cancel").addEventListener("click", () => post(`/jobs/${chosenBy}/cancel`).catch(() => {}));

// Wait for the chosen release and show it; the answer is HTML that the server has escaped.
async function follow(job, isLatest) {
  chosenBy = job;
  const box = document.getElementById("chosen");
  const wait = document.getElementById("choice-state");
  box.setAttribute("aria-busy", "true");
  const ended = await watch(job, (now) => {
    if (!isLatest() || !isActive(now)) return;
    wait.hidden = false;
    show(wait, now);
  }, isLatest);
  const page = ended.state === "done" && isLatest() ? await fetch("/chosen") : null;
  if (!isLatest()) return;
  end(wait);
  box.removeAttribute("aria-busy");
  if (ended.state === "dropped" || (page && !page.ok)) return;
  if (!page) return complain(ended.error || ended.words);
  box.innerHTML = await page.text();
  const mark = box.querySelector("[data-kept]").dataset;
  state.chosen = { kept: Number(mark.kept), leakage: Number(mark.leakage) };
  draw();
}

const taken = {}; // the last news of each task, by its id
function take(id, news) {
  const text = JSON.stringify(news);
  if (taken[id] === text) return;
  taken[id] = text;
  for (const name of ["points", "soft", "noise", "others", "whole", "free"]) {
    if (news[name] !== undefined) state[name] = news[name];
  }
  draw();
}

// Show how a task goes on and what it has found, until it ends; one that is done needs no words.
async function going(box, id) {
  if (!box.hidden) begin(box);
  cancelBy(box.querySelector(".cancel"), id);
  const ended = await watch(id, (job) => {
    show(box, job);
    take(id, job.news);
  });
  if (ended.state === "done") end(box);
  else box.hidden = false;
  if (ended.error) complain(ended.error);
  return ended.state === "done";
}

async function search() {
  if (!(await going(document.getElementById("search-state"), place.dataset.search))) return;
  await library;
  state.ready = true;
  form.hidden = false;
  listPoints();
  tellNearest();
  if (place.dataset.choice) follow(place.dataset.choice, () => latest === 0);
}

async function compare() {
  const id = place.dataset.compare;
  const words = document.getElementById("soft-words");
  if (!id) {
    words.textContent = "draw each record's symbol by lot (not searched)";
  } else if (await going(document.getElementById("compare-state"), id)) {
    soft.disabled = readable;
    words.textContent = "draw each record's symbol by lot: may give away less";
  } else {
    words.textContent = "draw each record's symbol by lot (not there)";
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  choose();
});
form.addEventListener("change", () => state.ready && choose());
slider.addEventListener("input", () => {
  value.value = slider.value;
  tellNearest();
});
value.addEventListener("input", () => {
  slider.value = value.value;
  tellNearest();
});
// The drawing library keeps the page busy for a while: what waits is on the screen, and turns, before it comes.
const library = (async () => {
  await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 100)));
  const script = document.createElement("script");
  script.src = "/static/plotly.min.js";
  await new Promise((go, fail) => {
    script.addEventListener("load", go);
    script.addEventListener("error", fail);
    document.head.append(script);
  });
  draw();
  plot.on("plotly_click", (event) => {
    const { data, pointIndex } = event.points[0];
    if (!state.ready || !data.meta || (data.meta === "soft" && soft.disabled)) return;
    const point = (data.meta === "soft" ? byLot() : state.points)[pointIndex];
    choosePoint(point, state.soft.includes(point));
  });
})().catch(() => complain("The picture cannot be drawn; the table below has the same points."));
dark.addEventListener("change", draw);
addEventListener("resize", draw); // sizes of letters, too, depend on the width
search();
compare();
