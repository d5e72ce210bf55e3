// What every page needs: watch tasks, upload, copy. No value of the user's ever becomes markup here.
"use strict";

const PAUSE = 400; // milliseconds between two questions to the server

async function ask(address, options) {
  const answer = await fetch(address, options).catch(() => {
    throw new Error("The studio does not answer. Is it still running?");
  });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error || "The studio did not answer.");
  return found;
}

function post(address, fields) {
  return ask(address, { method: "POST", body: new URLSearchParams(fields) });
}

const isActive = (job) => job.state === "queued" || job.state === "running";

// The seconds of what goes on are counted here, from the moment that the box is there, whether the server
// answers or not; one that is silent for long is said to be. The wheel before the words turns by the style.
const SILENT = 4000; // milliseconds
const clocks = new Map();
setInterval(() => clocks.forEach((clock, box) => tick(box, clock)), 100);

function tick(box, { words, since, heard }) {
  const now = performance.now();
  const seconds = (from) => Math.floor((now - from) / 1000);
  const silence = now - heard > SILENT ? `, the studio silent for ${seconds(heard)}\u00a0s` : "";
  const count = clocks.has(box) && seconds(since) >= 1 ? ` (${seconds(since)}\u00a0s${silence})` : "";
  write(box.querySelector(".words"), words);
  write(box.querySelector(".clock"), count);
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// What the page knows of a box before the server is asked.
function begin(box, words = box.querySelector(".words").textContent) {
  box.hidden = false;
  show(box, { state: "queued", words, seconds: Number(box.dataset.seconds || 0) });
}

function show(box, job) {
  const active = isActive(job);
  const heard = performance.now();
  const since = heard - 1000 * (job.seconds || 0);
  const before = clocks.get(box);
  // An answer that was long on its way does not set the clock back.
  const late = before && since > before.since && since - before.since < SILENT;
  const clock = { words: job.words, since: late ? before.since : since, heard };
  if (active) clocks.set(box, clock);
  else clocks.delete(box);
  tick(box, clock);
  const bar = box.querySelector("progress");
  if (job.total && job.done < job.total) {
    bar.max = job.total;
    bar.value = job.done;
  } else {
    bar.removeAttribute("value"); // moves by itself
  }
  bar.hidden = !active;
  box.querySelector(".cancel").hidden = !active;
  box.classList.toggle("ended", !active);
}

function end(box) {
  box.hidden = true;
  clocks.delete(box);
}

// Ask for a task until it ends or nobody wants it any more; `tell` gets every answer, the promise the last.
async function watch(id, tell, isWanted = () => true) {
  for (;;) {
    let job;
    if (!isWanted()) return { state: "dropped", words: "", news: {}, error: "" };
    try {
      job = await ask(`/jobs/${id}`);
    } catch {
      job = { state: "lost", words: "The studio has ended or has forgotten this task.", news: {}, error: "" };
    }
    tell(job);
    if (!isActive(job)) return job;
    await new Promise((go) => setTimeout(go, PAUSE));
  }
}

function cancelBy(button, id) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await post(`/jobs/${id}/cancel`);
    } catch {
      location.reload();
    }
  });
}

async function watchBox(box) {
  const id = box.dataset.job;
  begin(box);
  cancelBy(box.querySelector(".cancel"), id);
  const ended = await watch(id, (job) => isActive(job) && show(box, job));
  if (ended.state === "lost") show(box, ended);
  else location.reload(); // what waits is shown to wait until then
}

function upload(form) {
  const fault = document.getElementById("upload-fault");
  const bar = document.getElementById("sent");
  const complain = (words) => {
    fault.textContent = words;
    fault.hidden = !words;
    bar.hidden = true;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const file = document.getElementById("file").files[0];
    complain("");
    if (!file) return complain("Choose a file first.");
    if (file.size > Number(form.dataset.most)) return complain(form.dataset.tooLarge);
    const request = new XMLHttpRequest(); // fetch does not tell how much is sent
    request.open("POST", `/upload?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", (sent) => {
      bar.hidden = false;
      if (sent.loaded < sent.total) bar.value = sent.loaded / sent.total;
      else bar.removeAttribute("value"); // sent, and now looked at
    });
    request.addEventListener("error", () => complain("The upload was broken off; try again."));
    request.addEventListener("load", () => {
      const answer = request.response || {};
      if (request.status === 200) location.assign(answer.go);
      else complain(answer.error || "The studio refused this file.");
    });
    request.send(file);
  });
}

function askOnlyWhatIsNeeded(form) {
  for (const choice of form.querySelectorAll("select[name^=treat-]")) {
    const how = form.querySelector(`[name=how-${choice.name.slice(6)}]`);
    if (!how) continue;
    const update = () => {
      how.hidden = !(choice.value in how.dataset);
      how.placeholder = how.dataset[choice.value] || "";
    };
    choice.addEventListener("change", update);
    update();
  }
}

function copyBy(button) {
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copies).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(document.getElementById(button.dataset.copies));
      button.textContent = "Selected: press Ctrl-C";
    }
  });
}

// Of many columns show those whose names hold what is typed; marks stay, shown or not.
function filterBy(input) {
  const rows = document.querySelectorAll("table.ask tbody tr");
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    for (const row of rows) row.hidden = !row.querySelector("th").textContent.toLowerCase().includes(wanted);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // looks, does not send
  });
}

function tellValues(form) {
  form.addEventListener("input", (event) => {
    const told = event.target.nextElementSibling;
    if (told?.tagName === "OUTPUT") told.textContent = event.target.value;
  });
}

async function pageOf(address, options) {
  const answer = await fetch(address, options);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// Groups by hand: a form is sent and the part of the page that follows is put in its place; where the
// keyboard was, it stays. Without this script the same forms load the page anew.
async function sendByHand(form, button) {
  const hand = document.getElementById("hand");
  const fields = new URLSearchParams(new FormData(form));
  if (button?.name) fields.set(button.name, button.value);
  const focused = document.activeElement?.id || button?.id;
  let page = await pageOf(form.getAttribute("action"), { method: "POST", body: fields });
  const wait = page.querySelector("#hand [data-job]");
  if (wait) {
    hand.prepend(wait);
    begin(wait);
    wait.scrollIntoView({ block: "nearest" });
    cancelBy(wait.querySelector(".cancel"), wait.dataset.job);
    await watch(wait.dataset.job, (job) => show(wait, job));
    page = await pageOf("/hand");
  }
  const fresh = page.getElementById("hand");
  if (!fresh) return location.assign("/hand");
  for (const old of document.querySelectorAll("main > .fault")) old.remove();
  const fault = page.querySelector("main > .fault[role=alert]");
  if (fault) hand.before(fault);
  hand.replaceWith(fresh);
  layByHand(fresh);
  const near = focused && (document.getElementById(focused) || document.getElementById(`add-${fields.get("column")}`));
  if (near) near.focus({ preventScroll: !fault });
  fault?.scrollIntoView({ block: "center" });
}

function layByHand(hand) {
  hand.addEventListener("submit", (event) => {
    if (event.target.getAttribute("action") !== "/hand") return;
    event.preventDefault();
    event.submitter?.setAttribute("aria-busy", "true");
    sendByHand(event.target, event.submitter).catch(() => location.assign("/hand"));
  });
  for (const picture of hand.querySelectorAll("[data-cuts]")) cutByPointer(picture, picture.closest("section"));
}

// A click above a value begins a group there, or joins the one that begins there to the one before; a cut
// can be drawn along, by a finger too.
const NEAR = 12; // pixels from a cut that is meant
const STILL = 4; // pixels that a click may move

function cutByPointer(picture, section) {
  const bars = [...picture.querySelectorAll("[data-value]")];
  const lines = [...picture.querySelectorAll(".cut")];
  const forms = [...section.querySelectorAll(".cuts form")];
  const inOrder = (text) => (Number.isNaN(Number(text)) ? text : Number(text)); // dates are texts in order
  const left = (part) => part.getBoundingClientRect().left;
  const barAt = (x) => bars.findLast((bar) => left(bar) <= x + 0.5) || bars[0];
  // The cut between a bar and the one before it; the last, where there are several with nothing between.
  const cutBefore = (bar) => {
    const [low, high] = [bars[bars.indexOf(bar) - 1], bar].map((one) => one && inOrder(one.dataset.value));
    return forms.findLast((form) => low < inOrder(form.elements.at.defaultValue) && inOrder(form.elements.at.defaultValue) <= high);
  };
  const send = (form, what, bar) => {
    if (bar) form.elements.at.value = bar.dataset.value;
    form.requestSubmit(form.querySelector(`[value=${what}]`));
  };
  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    const line = lines.find((one) => Math.abs(left(one) - event.clientX) <= NEAR);
    from = { x: event.clientX, line };
    picture.setPointerCapture(event.pointerId);
    if (line) event.preventDefault();
  });
  picture.addEventListener("pointermove", (event) => {
    if (!from?.line) return;
    const scale = picture.querySelector("svg").getScreenCTM().a;
    from.line.setAttribute("transform", `translate(${(event.clientX - from.x) / scale})`);
  });
  picture.addEventListener("pointercancel", () => {
    from?.line?.removeAttribute("transform");
    from = null;
  });
  picture.addEventListener("pointerup", (event) => {
    if (!from) return;
    const { x, line } = from;
    const bar = barAt(event.clientX);
    const there = cutBefore(bar);
    from = null;
    line?.removeAttribute("transform");
    if (Math.abs(event.clientX - x) > STILL) {
      const moved = line && cutBefore(barAt(left(line) + 2));
      if (moved && moved !== there) send(moved, "move", bar);
    } else if (there) send(there, "remove");
    else send(section.querySelector("form.add"), "add", bar);
  });
}

// Values of a column in their order: dragged, or moved with buttons; the form sends them as they stand.
function putInOrder(list) {
  const choose = () => list.parentElement.querySelector("[value=order]").click();
  list.addEventListener("click", (event) => {
    const item = event.target.closest("li");
    const button = event.target.closest("button");
    if (!button) return;
    const up = button.className === "up";
    const other = up ? item.previousElementSibling : item.nextElementSibling;
    if (!other) return;
    if (up) other.before(item);
    else other.after(item);
    button.focus();
    choose();
  });
  let dragged = null;
  list.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("li");
  });
  list.addEventListener("dragover", (event) => {
    const over = event.target.closest("li");
    if (!dragged) return;
    event.preventDefault();
    if (!over || over === dragged) return;
    const box = over.getBoundingClientRect();
    if (event.clientY > box.top + box.height / 2) over.after(dragged);
    else over.before(dragged);
  });
  list.addEventListener("dragend", () => {
    if (dragged) choose();
    dragged = null;
  });
}

function fillBy(input) {
  input.addEventListener("change", async () => {
    const text = document.getElementById(input.dataset.fills);
    text.value = await input.files[0].text();
    input.closest("fieldset").querySelector("[value=tree]").click();
  });
}

// A button whose page is on its way turns a wheel, too.
document.addEventListener("submit", (event) => {
  if (!event.defaultPrevented) event.submitter?.setAttribute("aria-busy", "true");
});
addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
});

document.querySelectorAll("[data-job]").forEach(watchBox);
document.querySelectorAll("ol.order").forEach(putInOrder);
document.querySelectorAll("[data-fills]").forEach(fillBy);
document.querySelectorAll("#hand").forEach(layByHand);
document.querySelectorAll("#upload").forEach(upload);
document.querySelectorAll("#columns").forEach(askOnlyWhatIsNeeded);
document.querySelectorAll(".copy").forEach(copyBy);
document.querySelectorAll("#filter").forEach(filterBy);
document.querySelectorAll("#importance").forEach(tellValues);
// What was asked for is below a long list: after a reload, too, it is what is seen first.
if (location.hash) {
  history.scrollRestoration = "manual";
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
