const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const mains = [...document.querySelectorAll("main")];
const current = () => mains.find((main) => !main.hidden);
const cardsOf = (main) => [...main.querySelectorAll(".card")];
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
const isPresent = () => root.dataset.mode === "present";
let place = 0;
let view = 0;

// Languages.

function speak(language) {
  for (const main of mains) main.hidden = main.lang !== language;
  root.lang = language;
  show();
}

// What else could be seen of a card: the folded parts, each with what it is called.

const viewsOf = (card) => [...card.querySelectorAll(".more > details:is(.why, .by)")];

function show() {
  const main = current();
  const cards = cardsOf(main);
  place = Math.min(Math.max(place, 0), Math.max(cards.length - 1, 0));
  for (const [number, card] of cards.entries()) card.classList.toggle("current", number === place);
  main.querySelector(".deck").hidden = !isPresent();
  if (!isPresent()) return;
  const words = data.words[main.lang];
  const views = cards.length ? viewsOf(cards[place]) : [];
  view = Math.min(view, views.length);
  for (const details of cards.flatMap((card) => [...card.querySelectorAll("details")])) details.open = false;
  if (cards.length) {
    cards[place].dataset.view = view ? "more" : "result";
    const sure = cards[place].querySelector("details.sure");
    if (sure) sure.open = view === 0;
    for (const [number, details] of views.entries()) details.open = number + 1 === view;
  }
  const names = [words.result, ...views.map((details) => details.firstElementChild.textContent)];
  main.querySelector(".views").replaceChildren(...(names.length > 1 ? names : []).map((name, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.setAttribute("aria-pressed", String(number === view));
    button.addEventListener("click", () => {
      view = number;
      show();
      main.querySelectorAll(".views button")[number].focus();
    });
    return button;
  }));
  main.querySelector(".place").textContent = filled(words.place, { place: place + 1, count: cards.length });
  for (const name of [".previous", ".place", ".next"]) main.querySelector(name).hidden = cards.length < 2;
  main.querySelector(".previous").disabled = place === 0;
  main.querySelector(".next").disabled = place >= cards.length - 1;
  window.scrollTo(0, 0);
  history.replaceState(null, "", `#present=${place + 1}`);
}

function go(number) {
  place = number;
  view = 0;
  show();
}

function present(number = 0) {
  if (!cardsOf(current()).length) return;
  root.dataset.mode = "present";
  go(number);
}

function leave() {
  delete root.dataset.mode;
  const address = new URL(location.href);
  address.hash = "";
  address.searchParams.delete("present");
  history.replaceState(null, "", address);
  for (const details of document.querySelectorAll(".more > details")) details.open = false;
  show();
  cardsOf(current())[place]?.scrollIntoView();
}

function pressed(event) {
  if (!isPresent() || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape") return leave();
  const focused = event.target;
  if (focused.matches("input")) return;
  if (event.key === " " && focused.matches("button, summary")) return;
  const last = cardsOf(current()).length - 1;
  const steps = {
    ArrowRight: () => go(Math.min(place + 1, last)), PageDown: () => go(Math.min(place + 1, last)),
    ArrowLeft: () => go(Math.max(place - 1, 0)), PageUp: () => go(Math.max(place - 1, 0)),
    " ": () => go(Math.min(place + 1, last)),
    ArrowDown: () => { view += 1; show(); }, ArrowUp: () => { view = Math.max(view - 1, 0); show(); },
    Home: () => go(0), End: () => go(last),
  };
  if (!steps[event.key]) return;
  event.preventDefault();
  steps[event.key]();
}

// The slider: what reports would say if this many people truly gave the answer.

function moved(block) {
  const main = block.closest("main");
  const law = data.why[block.dataset.card];
  const words = data.words[main.lang];
  const people = Number(block.querySelector("input").value);
  const hint = people < law.closest ? words.why_more : people > law.closest ? words.why_less : words.why_meet;
  const answer = words.answers[block.dataset.card];
  block.querySelector("output").textContent = String(people);
  block.querySelector("svg .truth").setAttribute("width", String(law.widths[people]));
  const said = filled(words.why_reports, { reports: law.reports[people], observed: law.observed, answer });
  block.querySelector(".said").textContent = `${said} ${hint}`;
  block.classList.toggle("meets", people === law.closest);
}

// Files: made here from what the page holds.

function save(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function picture(svg) {
  const image = new Image();
  await new Promise((resolve, reject) => {
    image.addEventListener("load", resolve);
    image.addEventListener("error", reject);
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

async function saved({ save: kind, card }) {
  const name = `${data.name}-${card}.${kind}`;
  if (kind === "csv") return save(name, new Blob([data.csv[card]], { type: "text/csv;charset=utf-8" }));
  const svg = data.svg[current().lang][card];
  save(name, kind === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await picture(svg));
}

// Without a script these would do nothing, so they are hidden until now.

for (const part of document.querySelectorAll(".tools, .save, .try")) part.hidden = false;
for (const block of document.querySelectorAll(".try")) {
  block.addEventListener("input", () => moved(block));
  moved(block);
}
for (const button of document.querySelectorAll("[data-save]")) {
  button.addEventListener("click", () => saved(button.dataset));
}
for (const button of document.querySelectorAll("button.language")) {
  button.addEventListener("click", () => {
    const inDeck = button.closest(".deck");
    speak(button.dataset.language);
    current().querySelector(inDeck ? ".deck .language" : ".tools .language").focus();
  });
}
for (const main of mains) {
  main.querySelector(".tools .open")?.addEventListener("click", () => {
    present();
    main.querySelector(".next:enabled, .leave").focus();
  });
  main.querySelector(".previous").addEventListener("click", () => go(place - 1));
  main.querySelector(".next").addEventListener("click", () => go(place + 1));
  main.querySelector(".leave").addEventListener("click", leave);
}
addEventListener("keydown", pressed);

// All that is folded is printed.

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = !details.matches(".save");
});
addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
});

const known = mains.map((main) => main.lang);
const wanted = navigator.languages.map((language) => language.slice(0, 2)).find((language) => known.includes(language));
if (wanted && wanted !== root.lang) speak(wanted);
function opened() {
  const fragment = /^#present(?:=(\d{1,3}))?$/.exec(location.hash);
  if (fragment) present(Number(fragment[1] ?? 1) - 1);
  else if (new URLSearchParams(location.search).has("present")) present();
}
addEventListener("hashchange", opened);
opened();
