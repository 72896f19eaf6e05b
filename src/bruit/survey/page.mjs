import { codeOf, qrModules, randomBelow } from "./code.mjs";
import { counted, textCode } from "./open_text.mjs";
import { assigned, drawMemo, parities, read, refresh, sample } from "./sample.mjs";

// The page of a survey: it asks, draws once, shows the bytes, sends them, and then tells what they say.
//
// The true answers live in one variable, from the moment they are chosen until the page is left. They are in no
// attribute of an element, no address, no storage and no history; a summary shows them before the draw. What was drawn
// is stored before it is sent, and every further attempt sends the same bytes: a second draw would tell more about the
// person.
//
// Where the same people are asked again, a memo is drawn in the first round of an epoch and stored; each round sends a
// report of it. Before it draws a memo a page claims the epoch for its link: the collector lets one device have it, and
// only until a report of the epoch has come. Before it draws from the memo it asks in the same way for the round.
//
// Where a survey is answered by codes, nothing is sent: the page shows a code once what was drawn is on the disk, and
// shows the same code again whenever it is opened. What the code says is told when the person has handed it in.

// The report.

/** The bytes of a report, as text: one draw by the card, written into the fixed texts of the survey. */
export function draw(survey, card, codes, places, link) {
  const columns = sample(card, codes);
  return written(survey, { id: randomId(), link, public: places, report: columns, round: "1" });
}

/** The same for one round, from the memo of its epoch. */
export function drawRound(survey, card, { memo, places }, link, round) {
  const contents = { id: randomId(), link, public: places, report: refresh(card, memo), round: String(round) };
  return written(survey, contents);
}

/** What is kept of a report that is handed in as a code: the code, and what it says. */
export function drawCode(survey, card, codes, places) {
  const { slots, ids } = survey.code;
  const report = sample(card, codes);
  const column = (name) => card.columns.find((own) => own.name === name);
  const values = slots.map(([role, name]) => (
    role === "public" ? BigInt(places[name]) : number(column(name), report[name])
  ));
  return { body: codeOf(survey.code, randomBelow(BigInt(ids)), values), public: places, report };
}

/** The bytes by which a device claims an epoch for a link before it draws a memo (round 0), or a round of it. */
export function claimOf(survey, { id, link, epoch, round }) {
  const form = { parts: survey.panel.claim, length: survey.length };
  return written(form, { id, link, epoch: String(epoch), round: String(round) });
}

/** The fixed texts of a body with its slots filled, and zeros up to the one length of all bodies. */
export function written({ parts, length }, contents) {
  const content = ([role, name]) => (role === "pad" ? "" : name === "" ? contents[role] : contents[role][name]);
  const texts = parts.map((part) => (typeof part === "string" ? part : content(part)));
  const pad = "0".repeat(length - texts.join("").length);
  return texts.map((piece, place) => (parts[place][0] === "pad" ? pad : piece)).join("");
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The codes that the card takes: several choices are a yes or no for each label, and a table has a code per cell. */
export function codesOf(survey, answers) {
  const code = ({ question, label }) => {
    if (label !== null) return Number(answers[question].includes(label));
    const { kind, letters } = survey.questions[question];
    return kind === "open" ? textCode(answers[question], letters) : answers[question];
  };
  return survey.attributes.map(({ parts }) => parts.reduce((cell, part) => cell * part.size + code(part), 0));
}

/** What a report says: for each attribute that it speaks of, the codes that the message points to, or whether one fits. */
export function readingOf(survey, report) {
  const card = read(survey.card);
  const numbers = card.columns.map((column) => number(column, report[column.name]));
  const messages = card.method === "SMP" ? [[Number(numbers[0]), numbers[1]]] : [...numbers.entries()];
  return messages.map(([attribute, item]) => (
    { attribute, ...pointed(survey.attributes[attribute], card.questions[attribute], item) }
  ));
}

function number(column, digits) {
  if (column.dtype !== "bytes") return BigInt(digits);
  return digits.match(/../g).reduceRight((total, pair) => total * 256n + BigInt(`0x${pair}`), 0n);
}

function pointed({ reading }, question, item) {
  if (reading === "open") {
    const fits = (code) => parities(question.sets, BigInt(code), BigInt.asUintN(64, item)) === item >> 64n;
    return { fits, groups: 2 ** Number(question.sets.parities) };
  }
  if (reading === "value") return listed([Number(item)]);
  const codes = question.values.map((_, code) => code);
  if (reading === "list") return listed(codes.filter((code) => (item >> BigInt(code)) & 1n));
  const [low, high] = reading[Number(item)];
  return listed(codes.slice(low, high + 1));
}

const listed = (codes) => ({ codes, fits: (code) => codes.includes(code) });

// Storage: what was drawn and not yet sent, or that it was sent; memos; never an answer.
//
// Tabs share localStorage, but a browser may write it to the disk seconds later, and a crash then takes back the last
// records. So each of them also goes into a database, the journal, which says when it is on the disk; nothing is sent
// before. After a crash a page takes from the journal what localStorage has forgotten.

const JOURNAL = "bruit.survey";
const JOURNAL_PATIENCE = 3000; // some browsers never answer

/** What a request to the journal answers when its transaction is on the disk; nothing where there is no journal. */
function inJournal(mode, work) {
  return new Promise((resolve) => {
    const request = indexedDB.open(JOURNAL, 1);
    setTimeout(resolve, JOURNAL_PATIENCE);
    request.onerror = () => resolve();
    request.onupgradeneeded = () => {
      if (mode === "readwrite") request.result.createObjectStore("records", { keyPath: "name" });
      else request.transaction.abort(); // looking makes no journal
    };
    request.onsuccess = () => {
      const database = request.result;
      const transaction = database.transaction("records", mode, { durability: "strict" });
      const answer = work(transaction.objectStore("records"));
      transaction.oncomplete = () => resolve(answer.result);
      transaction.onabort = () => resolve();
      database.close(); // when the transaction ends
    };
  }).catch(() => undefined);
}

let journalled = Promise.resolve();

/** Write a record into the journal, behind those that this page wrote before; done when it is on the disk. */
function note(name, record) {
  const work = (records) => (record ? records.put({ name, record }) : records.delete(name));
  journalled = journalled.then(() => inJournal("readwrite", work));
  return journalled;
}

/** What all records of a survey at a collector under a link are called: a hash, because a link is somebody's own. */
async function nameFor(survey, link) {
  const place = survey.code ? "code" : new URL(survey.address, location.href).href;
  const text = [survey.identity, place, link].join(" ");
  if (!crypto.subtle) return `bruit.survey.${text}`; // a demonstration over plain http
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return `bruit.survey.${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const LINK_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

/** Two digits that differ after any one wrong character of what stands before them, or a swap of neighbours. */
export function linkCheck(named) {
  const rest = [...named].reduce((sum, letter) => (5 * sum + LINK_DIGITS.indexOf(letter)) % 97, 0);
  return String(rest).padStart(2, "0");
}

/** A body with another link in its place; what is stored has none. */
export function relinked(body, from, to) {
  return body.replace(`"link":"${from}"`, () => `"link":"${to}"`);
}

/** How far a record has come: nothing, a claim, something drawn, or something that nothing may follow. */
export function stage(record) {
  if (!record) return 0;
  if (record.sent || record.used) return 3;
  return record.body || record.memo ? 2 : 1;
}

function attempt(action) {
  try {
    return action(globalThis.localStorage);
  } catch {
    return undefined;
  }
}

/** Whether this browser keeps so many characters. */
function isLasting(size) {
  const name = "bruit.survey.try";
  const stored = attempt((storage) => {
    storage.setItem(name, "0".repeat(size));
    return true;
  });
  attempt((storage) => storage.removeItem(name));
  return stored === true;
}

/** Whether the journal keeps what is written into it. */
async function isJournalled() {
  const name = "bruit.survey.try";
  const key = await inJournal("readwrite", (records) => records.put({ name, record: null }));
  if (key === name) await inJournal("readwrite", (records) => records.delete(name));
  return key === name;
}

/** A record by its name; this page holds it where the browser did not take it. */
export function memory(name, link = "") {
  let held; // what localStorage has not
  return {
    name,
    link,
    get() {
      return held !== undefined ? held : attempt((storage) => JSON.parse(storage.getItem(name))) ?? null;
    },
    /** Done when it is on the disk; other tabs have it at once. */
    set(record) {
      const stored = attempt((storage) => {
        if (record) storage.setItem(name, JSON.stringify(record));
        else storage.removeItem(name);
        return true;
      });
      held = stored ? undefined : record;
      return note(name, record);
    },
  };
}

// Elements. Everything that somebody wrote becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return made;
}

/** How many words a person reads in an element; the paragraphs in it are apart. */
function wordsIn(part) {
  if (part.children.length && [...part.children].some(({ tagName }) => tagName === "DIV" || tagName === "P")) {
    return [...part.children].reduce((total, inner) => total + wordsIn(inner), 0);
  }
  return part.textContent.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** The first words of a text. */
function shortened(text) {
  const all = text.split(/\s+/);
  return all.length > MOST_WORDS_QUOTED ? `${all.slice(0, MOST_WORDS_QUOTED).join(" ")} …` : text;
}

/** A hundred dots, some of them filled, for what the text beside it says. */
function dots([count, of], label) {
  if (of !== 100) return null;
  const picture = document.createElementNS(SVG, "svg");
  const attributes = { viewBox: "0 0 100 100", role: "img", "aria-label": label, class: "dots" };
  for (const [key, value] of Object.entries(attributes)) picture.setAttribute(key, value);
  for (let place = 0; place < 100; place += 1) {
    const dot = document.createElementNS(SVG, "circle");
    dot.setAttribute("cx", (place % 10) * 10 + 5);
    dot.setAttribute("cy", Math.floor(place / 10) * 10 + 5);
    dot.setAttribute("r", "3.6");
    dot.setAttribute("class", place < count ? "on" : "off");
    picture.append(dot);
  }
  return picture;
}

/** A QR code with its light border. */
function qrPicture(text, label) {
  const modules = qrModules(text);
  const picture = document.createElementNS(SVG, "svg");
  const size = modules.length + 8;
  const attributes = { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, class: "qr" };
  for (const [key, value] of Object.entries(attributes)) picture.setAttribute(key, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", modules.flatMap((row, y) => (
    row.flatMap((isDark, x) => (isDark ? [`M${x + 4} ${y + 4}h1v1h-1z`] : []))
  )).join(""));
  picture.append(path);
  return picture;
}

// The page.

// How long a page waits before it sends again what did not arrive, in milliseconds: twice as long each time.
const FIRST_PAUSE = 15000;
const LONGEST_PAUSE = 300000;

// How long somebody who takes part waits to learn whether the survey is open, before the questions are shown anyway.
const OPEN_PATIENCE = 3000;

// An introduction with more words, or one that makes more than so many with the rest, stands below the buttons.
const MOST_WORDS = 20;
const MOST_WORDS_IN_ALL = 90;

// A question is quoted above the buttons with so many words at most; it is whole in what is folded below.
const MOST_WORDS_QUOTED = 8;

// Numbers with more values than this have buttons for larger steps too, of at most a part of the range.
const MANY_VALUES = 12;
const JUMPS = 5;

// What a collector answers to a report that came after the survey was closed.
const LATE = "410";

// What is stored at once, in characters: a memo is shorter than a report, and quotes are written as two characters.
const sizeOf = (survey) => 4 * survey.length + 1000;

function start(survey) {
  const place = document.getElementById("survey");
  const card = read(survey.card);
  const sampled = card.method === "SMP";
  const isOneOfTwo = card.questions.length === 1 && card.questions[0].values.length === 2;
  const tables = survey.attributes.some(({ parts }) => parts.length > 1); // pairs of answers are reported
  let language = preferred(survey.languages);
  let screen = null;
  let answers = null; // the true ones
  let step = 0; // the question that is asked, or behind the last one the summary
  let isChange = false; // whether the summary asked for this question again
  let isGuarded = false; // whether an entry of the history is there for the phone's own way back
  let shown = null; // what was drawn, while this page is open
  let drawing = false;
  let shut = null; // why the collector takes no answers, as far as this page knows; "" where it takes them
  let link = "";
  let linked = null; // the place of the question that the link names, in rotation
  let base = ""; // what all that is stored for this survey and link begins with
  let store = null; // of this round
  let memos = null; // of this epoch
  let round = 1;
  let lasting = true;
  let beginning = null; // the last time that it began
  const stores = new Map(); // by name
  const { panel, code } = survey;

  // Words.

  const words = () => survey.words[language];

  /** A text of the page with its places filled; a function makes an element for each place that it fills. */
  function say(name, values = {}) {
    return words()[name].split(/(\{[a-z]+\})/).map((piece) => {
      const value = values[/^\{([a-z]+)\}$/.exec(piece)?.[1]];
      return (typeof value === "function" ? value() : value) ?? piece;
    });
  }

  const plain = (name, values) => say(name, values).map((piece) => piece.textContent ?? piece).join("");
  const paragraph = (name, values, attributes = {}) => element("p", attributes, say(name, values));
  const bdi = (content) => element("bdi", {}, content);
  const quote = (content) => bdi(plain("quoted", { text: content }));
  const figure = (value) => Number(value).toLocaleString(language, { maximumFractionDigits: 12 });
  const share = ([count, of]) => plain("share", { count: figure(count), of: figure(of) });
  const percent = (digits) => plain("percent", { number: figure(digits) });

  function label(question, code) {
    const known = question.labels[language][code];
    return question.kind === "number" ? figure(known) : known;
  }

  /** The labels of an attribute: of several choices, no and yes; of a table, those of the cell. */
  function attributeLabel({ parts }, code) {
    let rest = code;
    const labels = [...parts].reverse().map(({ question, label: own, size }) => {
      const place = rest % size;
      rest = (rest - place) / size;
      return own === null ? label(survey.questions[question], place) : words()[place ? "yes" : "no"];
    });
    return labels.reverse().join(" + ");
  }

  const questionsOf = ({ parts }) => [...new Set(parts.map(({ question }) => question))];
  const questionsName = (attribute) => (
    questionsOf(attribute).map((question) => survey.questions[question].text[language]).join(" + ")
  );

  function attributeName({ parts }) {
    return parts.map(({ question, label: own }) => {
      const { text, labels } = survey.questions[question];
      return own === null ? text[language] : `${text[language]} – ${labels[language][own]}`;
    }).join(" + ");
  }

  // Screens.

  const SCREENS = {
    invitation, declined, questions, report, already, again, not_yet, lost, unclaimed, handing,
    storage: () => notice("storage"),
    claiming: () => waiting("claiming"),
    moment: () => waiting("moment"),
    from_disk: () => notice("from_disk"),
    insecure: () => notice("insecure"),
    needs_link: () => notice("needs_link"),
    not_open: () => notice("not_open"),
    closed: () => notice("closed"),
    closed_meanwhile: () => notice("closed_meanwhile"),
    not_drawn: () => notice("not_drawn"),
  };

  function show(name) {
    screen = name;
    render();
    window.scrollTo(0, 0);
    focusHeading();
  }

  /** What is new on a screen is its second heading, as the question; the first one is the title of the survey. */
  function focusHeading() {
    const news = screen === "invitation" ? null : place.querySelector("h2");
    (news ?? place.querySelector("h1"))?.focus({ preventScroll: true });
  }

  function render() {
    document.documentElement.lang = language;
    document.documentElement.dir = words().direction;
    document.title = survey.title[language];
    const banner = survey.insecure_demo ? paragraph("demo_banner", {}, { class: "banner", role: "note" }) : "";
    place.className = screen;
    place.replaceChildren(languages(), banner, ...SCREENS[screen]().filter(Boolean));
  }

  function languages() {
    if (survey.languages.length < 2) return "";
    return element("nav", { class: "languages" }, survey.languages.map((code) => element("button", {
      type: "button",
      lang: code,
      "aria-pressed": String(code === language),
      onclick() {
        language = code;
        render();
        place.querySelector(`nav [lang="${code}"]`).focus();
      },
    }, survey.words[code].language)));
  }

  const heading = (content) => element("h1", { tabindex: "-1", dir: "auto" }, content);
  const subheading = (content) => element("h2", { tabindex: "-1" }, content);

  function button(name, action, kind = "") {
    return element("button", { type: "button", class: kind, onclick: action }, say(name));
  }

  function notice(name) {
    return [heading(survey.title[language]), subheading(say(name)), paragraph(`${name}_text`)];
  }

  /** What a decision needs stands before the buttons, on one screen of a phone; all else is folded below them. */
  function invitation() {
    const { asker, title, attributes } = survey;
    const hasSeveral = attributes.length > 1 || tables;
    const isBrief = Boolean(words().brief_sure);
    const first = [
      heading(title[language]),
      asker[language] ? paragraph("asked_by", { asker: bdi(asker[language]) }, { class: "quiet" }) : null,
      panel ? roundOf() : null,
    ];
    const rest = [
      isBrief ? brief() : paragraph("protection_text"), // older translations lack the short texts
      hasSeveral ? exampleOf() : null,
      odds(0, true),
      inClear(words().brief_clear ? "brief_clear" : "clear_some"),
      ...decision(),
    ];
    const [own, others] = [introduction(), [...first, ...rest].filter((part) => part && part.className !== "buttons")]
      .map((parts) => parts.reduce((total, part) => total + wordsIn(part), 0));
    const isShort = own <= MOST_WORDS && own + others + survey.languages.length <= MOST_WORDS_IN_ALL;
    return [
      ...first,
      ...(isShort ? introduction() : []),
      ...rest,
      code ? paragraph(words().brief_private ? "brief_private" : "private", {}, { class: "quiet" }) : null,
      ...(isShort ? [] : introduction()),
      preview(),
      folded("protection", [
        paragraph("protection_text"), ...(panel ? rounds() : []), ...(hasSeveral ? pick() : []),
        inClear("clear_some"), clear(),
        paragraph("decide_text"), paragraph("may_decline", { button: quote(words().draw) }),
        code ? paragraph("private") : null,
      ]),
      allOdds(),
      folded("belief", conclusions()),
      leaves(),
    ];
  }

  const folded = (name, parts) => element("details", {}, element("summary", {}, say(name)), parts);

  function introduction() {
    const lines = survey.introduction[language].split(/\n\s*\n/).filter(Boolean);
    return lines.map((line) => element("p", { class: "lead", dir: "auto" }, line));
  }

  const guarded = survey.questions.filter((question) => !question.clear); // those whose answers chance may change
  const hasChoices = guarded.some((question) => question.kind === "several");

  /** What is sent of several answers: one of them, one choice of one question, all, a pair, or one of some pairs. */
  function portion() {
    const several = survey.attributes.length > 1;
    if (tables) return several ? "tables" : "table";
    if (!several) return "text";
    if (guarded.length === 1 && words().protection_choices) return sampled ? "choices" : "choices_all";
    return sampled ? "several" : "all";
  }

  /** The protection in two sentences. */
  function brief() {
    const kind = portion();
    const name = words()[`brief_${kind}`] ? `brief_${kind}` : "brief_all";
    return element("p", { class: "lead" }, say(name), " ", say("brief_sure"));
  }

  /** What will be asked, as text only, and how it will be sent. */
  function preview() {
    return element(
      "details", survey.questions.length > 3 ? {} : { open: "" }, element("summary", {}, say("preview")),
      element("ul", {}, survey.questions.map((question) => (
        element("li", {}, element("span", { dir: "auto" }, question.text[language]), " ", mark("span", question))
      ))),
    );
  }

  function mark(name, { clear: isClear }) {
    return element(name, { class: isClear ? "mark open" : "mark" }, say(isClear ? "is_clear" : "is_protected"));
  }

  const roundOf = () => paragraph("round_of", { round: figure(round), rounds: figure(panel.opens.length) });

  /** How often people are asked, and how often they answer. */
  function rounds() {
    const epochs = panel.rounds > 1 ? (panel.epochs > 1 ? "rounds_epochs" : "rounds_epoch") : "rounds_anew";
    const counts = { rounds: figure(panel.opens.length), epochs: figure(panel.epochs), length: figure(panel.rounds) };
    return [paragraph(epochs, counts)];
  }

  /** One answer of several is picked, or all are sent; a question with several choices counts once. */
  function pick() {
    const kind = portion();
    const pairs = oddsRows().length > 1 ? oddsRows().length : survey.attributes.length;
    const isOne = kind.startsWith("choices");
    return [
      paragraph(`protection_${kind}`, { count: figure(tables ? pairs : guarded.length) }),
      hasChoices && !isOne && words().protection_choice ? paragraph("protection_choice") : null,
    ];
  }

  /** The first row of each question or pair of questions: the choices of a question have the same odds. */
  function oddsRows() {
    const rows = new Map();
    survey.attributes.forEach((attribute, row) => {
      const key = questionsOf(attribute).join();
      if (!rows.has(key)) rows.set(key, row);
    });
    return [...rows.values()];
  }

  /** The odds are shown for the first of several. */
  const exampleOf = () => element("p", { class: "quiet" }, quote(shortened(questionsName(survey.attributes[0]))));

  /** How often a message points to the own answer, and to another one: two sentences, and two pictures of them. */
  function odds(row, pictures) {
    const { own, other } = survey.attributes[row];
    return element("div", { class: "odds" }, [own, other].map((chance, line) => element(
      "div", {}, pictures ? dots(chance, share(chance)) : null, element("p", {}, oddsTexts(row)[line]),
    )));
  }

  function oddsTexts(row) {
    const attribute = survey.attributes[row];
    const size = card.questions[row].values.length;
    const [{ question }] = attribute.parts;
    const isYesNo = attribute.parts.length === 1 && survey.questions[question].kind === "yes-no";
    const example = size === 2 || isYesNo ? 1 : 0;
    const values = {
      answer: () => quote(attributeLabel(attribute, example)),
      other: () => quote(attributeLabel(attribute, 0)),
    };
    const [own, other] = [attribute.own, attribute.other].map(([count, of]) => (
      { ...values, count: figure(count), of: figure(of) }
    ));
    if (attribute.reading === "open") return [say("own", own), say("other", other)];
    if (attribute.reading === "list") return [say("own_list", own), say("other_lists", other)];
    if (attribute.reading === "value") {
      return [say("own_answer", own), say(size === 2 ? "other_answer" : "other_answers", other)];
    }
    const { labels } = survey.questions[question];
    const [low, high] = [labels[language][0], labels[language][size - 1]].map(Number);
    const ends = { low: figure(low), high: figure(high), middle: figure((low + high) / 2) };
    return [say("low_number", { ...own, ...ends }), say("high_number", { ...other, ...ends })];
  }

  function allOdds() {
    const rows = oddsRows();
    if (rows.length < 2) return null;
    return element(
      "details", {}, element("summary", {}, say("all_odds")), sampled ? paragraph("picked_only") : null,
      rows.map((row) => [
        element("h3", { dir: "auto" }, questionsName(survey.attributes[row])), odds(row, false),
      ]),
    );
  }

  function conclusions() {
    const after = element("p", { id: "after", role: "status" });
    const tell = (before) => {
      const [least, most] = survey.beliefs[before - 1];
      const values = { before: percent(before), least: percent(least), most: percent(most) };
      after.replaceChildren(plain("belief_after", values));
    };
    const slider = element("input", {
      type: "range", min: "1", max: "99", value: "50", id: "belief", autocomplete: "off",
      oninput: () => tell(Number(slider.value)),
    });
    tell(50);
    return [
      expectation(),
      element("div", { class: "slider" }, element("label", { for: "belief" }, suspicion()), slider, after),
      paragraph(panel ? "belief_lasts_rounds" : "belief_lasts"),
      ...account(true),
    ];
  }

  /** The same in a sentence, of the answer itself where there is one question with two answers. */
  function expectation() {
    const values = { before: percent(50), most: percent(survey.beliefs[49][1]) };
    if (panel) return paragraph("belief_rounds", { ...values, first: percent(panel.accounts[0][0][1]) });
    if (!isOneOfTwo) return paragraph("belief_text", values);
    return paragraph("belief_answer", { ...values, answer: quote(attributeLabel(survey.attributes[0], 1)) });
  }

  function suspicion() {
    if (panel || !isOneOfTwo) return say("belief_slider");
    return say("belief_slider_answer", { answer: quote(attributeLabel(survey.attributes[0], 1)) });
  }

  /** What was sent with this link from this device tells so much; nothing where nothing was sent. */
  function account(isAsked = false) {
    if (!panel) return [];
    const sent = panel.opens.map((_, place) => kept(`round.${place + 1}`).get() !== null);
    const epochs = Array.from({ length: panel.epochs }, (_, epoch) => (
      sent.slice(epoch * panel.rounds, (epoch + 1) * panel.rounds).filter(Boolean).length
    ));
    const now = epochs[epochOf(round) - 1];
    const before = epochs.filter((number) => number > 0).length - (now > 0 ? 1 : 0);
    if (!before && !now) return [];
    const counts = { count: figure(sent.filter(Boolean).length), rounds: figure(sent.length), before: percent(50) };
    const told = ([epsilon, most]) => ({ most: percent(most), epsilon: figure(epsilon) });
    const soFar = now ? panel.accounts[before][now - 1] : panel.accounts[before - 1][panel.rounds - 1];
    return [element(
      "div", { class: "account" }, paragraph("account", { ...counts, ...told(soFar) }),
      isAsked ? paragraph("account_next", told(panel.accounts[before][now])) : null,
    )];
  }

  /** Which answers are sent as they are, where there are any. */
  function inClear(name) {
    const texts = survey.questions.filter((question) => question.clear).map(({ text: own }) => own[language]);
    if (!texts.length) return null;
    const names = texts.map((own) => quote(name === "brief_clear" ? shortened(own) : own));
    return paragraph(name, { questions: element("span", {}, separated(names)) }, { class: "clear" });
  }

  const clear = () => (survey.questions.some((question) => question.clear) ? null : paragraph("clear_none"));

  const separated = (nodes) => nodes.flatMap((node, row) => (row ? [", ", node] : [node]));

  function leaves() {
    const own = panel ? ["leaves_link_rounds", "leaves_memo"] : survey.links ? ["leaves_link"] : [];
    const way = code ? ["leaves_channel", "leaves_file"] : ["leaves_network", "leaves_page"];
    const asIs = words().leaves_clear && survey.questions.some((question) => question.clear) ? ["leaves_clear"] : [];
    const names = ["leaves_report", ...asIs, ...own, "leaves_stays", ...way, "leaves_withdraw"];
    const [identity, digest] = [survey.identity, survey.digest].map((digits) => element("code", {}, digits));
    const known = { epsilon: figure(survey.epsilon), identity, digest };
    const parts = panel && { report: figure(panel.report_epsilon), epoch: figure(panel.epoch_epsilon) };
    return element(
      "details", {}, element("summary", {}, say("leaves")),
      element("ul", {}, names.map((name) => element("li", {}, say(name)))),
      panel ? paragraph("technical_rounds", { ...known, ...parts }, { class: "quiet" }) : null,
      panel ? null : paragraph("technical", known, { class: "quiet" }),
    );
  }

  function decision() {
    return [
      subheading(say("decide")),
      lasting ? null : paragraph(panel ? "no_memory" : "no_storage", {}, { class: "warning" }),
      buttons(button("take_part", takePart, "main"), button("decline", () => show("declined"))),
    ];
  }

  const buttons = (...all) => element("div", { class: "buttons" }, all);

  async function takePart() {
    if (panel && !(await claim(0))) return undefined;
    if (code && !(await isJournalled())) return show("storage");
    if (!panel && !code && !(await mayAsk())) return undefined; // a claim learns it by itself
    answers = survey.questions.map((question) => (question.kind === "several" ? [] : null));
    [step, isChange] = [0, false];
    return show("questions");
  }

  /** Whether to ask: the page may have been open for long. Without an answer of the collector it asks, after a while. */
  async function mayAsk() {
    const own = store;
    show("moment");
    await Promise.race([checkOpen(), new Promise((resolve) => setTimeout(resolve, OPEN_PATIENCE))]);
    return screen === "moment" && own === store;
  }

  /** What was chosen is forgotten; nothing was drawn yet. */
  function leave() {
    answers = null;
    show("declined");
  }

  function declined() {
    const claimed = panel && memos.get()?.claimed ? paragraph("declined_claimed") : null;
    return [
      heading(survey.title[language]), subheading(say("declined")),
      claimed ?? paragraph("declined_text"), buttons(button("back", () => begin())),
    ];
  }

  // Rounds.

  const epochOf = (number) => Math.floor((number - 1) / panel.rounds) + 1;
  const roundNow = () => (panel ? panel.opens.filter((time) => Date.parse(time) <= Date.now()).length : 1);

  /** What is stored under a name for this survey and link. */
  const kept = (name) => named(name ? `${base}.${name}` : base, link);

  function named(name, token) {
    if (!stores.has(name)) stores.set(name, memory(name, token));
    return stores.get(name);
  }

  /** Take from the journal what is missing here, and write into it what it has not. */
  async function recall(prefix, token) {
    const range = IDBKeyRange.bound(prefix, `${prefix}.~`);
    for (const { name, record } of (await inJournal("readonly", (records) => records.getAll(range))) ?? []) {
      const own = named(name, token);
      if (stage(record) > stage(own.get())) own.set(record);
      else if (stage(record) < stage(own.get())) note(name, own.get());
    }
  }

  /** What there is of the memo of this epoch: none yet, one to draw from, or one that is lost or was tampered with. */
  function memoState() {
    if (memos.get()?.used) return "lost"; // the clock of this device was set back
    const first = (epochOf(round) - 1) * panel.rounds + 1;
    const others = Array.from({ length: panel.rounds }, (_, place) => first + place).filter((own) => own !== round);
    const used = others.some((other) => kept(`round.${other}`).get());
    if (!memos.get()?.memo) return used ? "lost" : "invitation";
    try {
      drawRound(survey, card, memos.get(), link, round);
      return "again";
    } catch {
      return "lost";
    }
  }

  /** Whether this device may draw the memo of this epoch (round 0), or from it for a round; where not, it says so. */
  async function claim(number) {
    if (roundNow() !== round) {
      begin(); // another round has begun since the page was opened
      return false;
    }
    const [own, sending, epoch, token, name] = [memos, store, epochOf(round), link, base];
    await alone(name, () => own.get() ?? own.set({ id: randomId() }));
    if (!own.get()?.id) {
      begin(); // the epoch has ended in another tab
      return false;
    }
    show("claiming");
    const outcome = await posted(claimOf(survey, { id: own.get().id, link: token, epoch, round: number }));
    await alone(name, () => learn(outcome, number, own, sending));
    if (own !== memos) return false; // another link was opened here meanwhile
    if (outcome === "sent") return true;
    shown = { outcome, next: number ? finishAgain : takePart };
    if (outcome !== "403") show("unclaimed");
    else if (sending.get() || own.get()?.memo) resume(); // sent from here, by another tab or before a crash
    else show("lost");
    return false;
  }

  /** Keep what the answer to a claim says; what another tab has drawn meanwhile stays. */
  function learn(outcome, number, own, sending) {
    const record = own.get();
    if (outcome === "sent" && record?.id) own.set({ ...record, claimed: true });
    if (outcome !== "403") return;
    if (number && !sending.get()) sending.set({ sent: true });
    if (!number && stage(record) < 2) own.set(null);
  }

  function waiting(name) {
    return [heading(survey.title[language]), paragraph(name, {}, { role: "status" })];
  }

  function unclaimed() {
    const { outcome } = shown;
    if (outcome === "again") {
      return [...notice("unclaimed"), buttons(button("try_again", shown.next, "main"))];
    }
    const reason = outcome === LATE ? "refused_closed" : "refused_other";
    return [heading(survey.title[language]), subheading(say("refused")), paragraph(reason, { status: outcome })];
  }

  /** This link was used in this epoch, and its memo is not here: another one would tell more. */
  function lost() {
    const next = epochOf(round) * panel.rounds + 1;
    if (next <= panel.opens.length) return [...notice("lost"), opening("lost_until", next)];
    return [...notice("lost"), words().lost_last ? paragraph("lost_last") : null]; // older translations lack it
  }

  function opening(name, number) {
    const time = new Date(panel.opens[number - 1]).toLocaleString(language, { dateStyle: "full", timeStyle: "short" });
    return paragraph(name, { round: figure(number), time: element("time", { datetime: panel.opens[number - 1] }, time) });
  }

  function not_yet() {
    return [heading(survey.title[language]), subheading(say("not_yet")), opening("round_opens", 1)];
  }

  /** A further round of an epoch: nobody is asked anew, and what is sent is drawn from the memo. */
  function again() {
    return [
      heading(survey.title[language]),
      roundOf(),
      subheading(say("again")),
      paragraph("again_text"),
      ...account(true),
      leaves(),
      subheading(say("decide")),
      paragraph("decide_text"),
      buttons(button("take_part_again", finishAgain, "main"), button("decline", () => show("declined"))),
    ];
  }

  async function finishAgain() {
    if (!(await claim(round))) return;
    answers = null;
    await drawAndSend();
  }

  // Questions.

  const hasSteps = () => survey.questions.length > 1 && words().next; // older translations lack it

  function questions() {
    if (hasSteps()) return step < survey.questions.length ? single() : summary();
    const isOnly = survey.questions.length === 1;
    return [
      heading(survey.title[language]),
      isOnly ? null : subheading(say("questions")),
      isOnly ? null : honesty(),
      ...survey.questions.map((question, row) => field(question, row, isOnly)),
      paragraph("draw_text", {}, { class: "quiet" }),
      ...moves(button("draw", finish, "main")),
    ];
  }

  /** The banner of a demonstration asks for no true answers. */
  const honesty = () => (survey.insecure_demo ? null : paragraph("questions_text", {}, { class: "quiet" }));

  /** One question of several, and how far it is. */
  function single() {
    const bar = element("progress", { max: survey.questions.length, value: step + 1, "aria-hidden": "true" });
    return [
      bar,
      heading(survey.title[language]),
      field(survey.questions[step], step, true),
      ...moves(step ? button("back", backward) : null, button("next", forward, "main")),
    ];
  }

  /** The ways on and back at the thumb, and below them the way out. */
  const moves = (...all) => [
    element("div", { class: "moves" }, buttons(...all)), button("decline_after_all", leave, "quit"),
  ];

  /** All answers, before the draw. */
  function summary() {
    const line = (question, row) => {
      const again = button("change", () => go(row, true));
      again.setAttribute("aria-label", `${plain("change")}: ${question.text[language]}`);
      return element(
        "li", {}, element("div", {}, element("p", { class: "quiet", dir: "auto" }, question.text[language]),
          element("p", { dir: "auto" }, chosen(question, answers[row])), question.clear ? mark("p", question) : null), again,
      );
    };
    return [
      heading(survey.title[language]),
      subheading(say("questions")),
      paragraph("draw_text", {}, { class: "quiet" }),
      element("ul", { class: "summary" }, survey.questions.map(line)),
      ...moves(button("back", backward), button("draw", finish, "main")),
    ];
  }

  function chosen(question, answer) {
    if (question.kind !== "several") return label(question, answer);
    const labels = [...answer].sort((first, second) => first - second).map((own) => label(question, own));
    return labels.length ? labels.join(", ") : plain("none_chosen");
  }

  function go(row, change = false) {
    [step, isChange] = [row, change];
    show("questions");
  }

  function forward() {
    if (wrongAt(step)) {
      complain(step, wrongAt(step));
      inputOf(step).focus();
      return;
    }
    guard();
    go(isChange ? survey.questions.length : step + 1);
  }

  /** An entry of the history with nothing in it: the phone's own way back comes to the question before. */
  function guard() {
    if (!isGuarded) history.pushState(null, "");
    isGuarded = true;
  }

  function backward() {
    if (isGuarded) history.back();
    else go(step - 1);
  }

  function cameBack() {
    isGuarded = false;
    if (screen !== "questions" || !hasSteps() || !step || drawing) return;
    if (step > 1) guard();
    go(step - 1);
  }

  /** A question with its answers; alone on its screen it is the heading, behind how far it is. */
  function field(question, row, isAlone = false) {
    const id = `q${row}`;
    const help = [question.help[language], note(question)].filter(Boolean).join(" ");
    const progress = hasSteps() ? share([row + 1, survey.questions.length]) : null;
    const count = progress && element("span", { class: "progress" }, progress, " ");
    const asked = element("span", { dir: "auto" }, question.text[language]);
    return element(
      "fieldset", { id, "aria-describedby": `${id}-help ${id}-error` },
      element("legend", {}, isAlone ? element("h2", { tabindex: "-1" }, count, asked) : asked),
      mark("p", question),
      isAlone && row === 0 ? honesty() : null,
      element("p", { id: `${id}-help`, class: "quiet", dir: "auto" }, help),
      inputsOf(question, row),
      element("p", { id: `${id}-error`, class: "error", role: "alert" }),
    );
  }

  function inputsOf(question, row) {
    if (question.kind === "open") return textInput(question, row);
    return question.kind === "number" ? numberInput(question, row) : choices(question, row);
  }

  function note(question) {
    if (question.kind === "open") return plain("note", { letters: figure(question.letters) });
    if (question.kind === "several") return plain("choose_any");
    return question.kind === "number" ? plain("enter_number", range(question)) : "";
  }

  function range(question) {
    const last = question.labels[language].length - 1;
    return { low: label(question, 0), high: label(question, last), step: figure(question.step) };
  }

  /** Boxes to check, in a shadow tree: Firefox writes which boxes of a document are checked into a file of its own. */
  function choices(question, row) {
    const several = question.kind === "several";
    const inputs = question.labels[language].map((_, code) => {
      const input = element("input", { type: several ? "checkbox" : "radio", name: `q${row}`, autocomplete: "off" });
      input.checked = several ? answers[row].includes(code) : answers[row] === code;
      input.addEventListener("change", () => {
        if (!several) answers[row] = code;
        else answers[row] = input.checked ? [...answers[row], code] : answers[row].filter((other) => other !== code);
        complain(row, null);
      });
      return input;
    });
    const boxes = () => yesFirst(question, inputs.map((input, code) => choice(input, question.labels[language][code])));
    return shadowed(question.kind === "scale" ? scale(question, inputs) : boxes());
  }

  function shadowed(parts) {
    const host = element("div", { class: "choices" });
    const style = document.querySelector("style").cloneNode(true); // the policy knows its hash
    host.attachShadow({ mode: "open" }).append(style, ...parts.flat());
    return host;
  }

  /** A field to type a text into, in a shadow tree like boxes, and what the text counts as. */
  function textInput(question, row) {
    const input = element("input", {
      type: "text", autocomplete: "off", autocapitalize: "off", autocorrect: "off", spellcheck: "false",
      translate: "no", maxlength: "200", dir: "auto", "aria-label": question.text[language], "aria-describedby": "counted",
    });
    const line = element("p", { id: "counted", class: "quiet", role: "status" });
    const tell = () => {
      const letters = counted(input.value, question.letters).replaceAll("\0", " ").trim();
      line.replaceChildren(...(letters ? say("counted", { answer: quote(letters) }) : []));
    };
    input.value = answers[row] ?? "";
    input.addEventListener("input", () => {
      answers[row] = textCode(input.value, question.letters) ? input.value : null;
      tell();
      complain(row, null);
    });
    tell();
    return shadowed([element("div", { class: "text" }, input), line]);
  }

  /** The first input of a question. */
  function inputOf(row) {
    const own = document.getElementById(`q${row}`);
    return (own.querySelector(".choices")?.shadowRoot ?? own).querySelector("input");
  }

  /** Yes stands before no on the screen; their codes stay as they are. */
  const yesFirst = ({ kind }, rows) => (kind === "yes-no" ? [rows[1], rows[0], ...rows.slice(2)] : rows);

  const choice = (input, content) => (
    element("label", { class: "choice" }, input, element("span", { dir: "auto" }, content))
  );

  /** The steps of a scale in one row, the words for its ends below them; a refusal is no step. */
  function scale(question, inputs) {
    const labels = question.labels[language];
    const steps = labels.map((content) => /^(-?[0-9]+)(?: – (.*))?$/s.exec(content)).filter(Boolean);
    const ends = [steps[0], steps[steps.length - 1]].map(([, , word]) => element("span", { dir: "auto" }, word ?? ""));
    return [
      element("div", { class: "scale" }, steps.map(([content, digits], code) => {
        inputs[code].setAttribute("aria-label", content); // with the word for an end
        return element("label", { class: "step" }, inputs[code], element("span", {}, figure(digits)));
      })),
      element("div", { class: "ends", "aria-hidden": "true" }, ends),
      inputs.slice(steps.length).map((input, row) => choice(input, labels[steps.length + row])),
    ];
  }

  /** A field to type a number into, between buttons for a step down and up; many numbers have larger steps too. */
  function numberInput(question, row) {
    const input = element("input", {
      type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", maxlength: "20",
      "aria-label": question.text[language], "aria-describedby": `q${row}-help q${row}-error`,
    });
    const now = element("p", { class: "unseen", role: "status" });
    const last = question.labels[language].length - 1;
    const move = (places) => {
      const code = Number.isInteger(answers[row]) ? answers[row] + places : places > 0 ? 0 : last;
      answers[row] = Math.min(last, Math.max(0, code));
      input.value = label(question, answers[row]);
      now.replaceChildren(input.value);
      complain(row, null);
    };
    if (answers[row] !== null) input.value = Number.isNaN(answers[row]) ? "" : label(question, answers[row]);
    input.addEventListener("input", () => {
      answers[row] = input.value.trim() === "" ? null : codeOf(question, input.value);
      complain(row, null);
    });
    input.addEventListener("keydown", (event) => {
      const places = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (places) move(places);
      else if (event.key === "Enter" && hasSteps()) forward();
      else return;
      event.preventDefault();
    });
    const stepper = (places) => stepButton(question, places, () => move(places));
    const jump = jumpOf(question);
    return [
      element("div", { class: "number" }, stepper(-1), input, stepper(1)),
      jump ? element("div", { class: "number jumps" }, stepper(-jump), stepper(jump)) : null,
      now,
    ];
  }

  function stepButton(question, places, action) {
    const [sign, name] = places < 0 ? ["−", "less"] : ["+", "more"];
    const number = figure(Math.abs(places) * Number(question.step));
    const content = Math.abs(places) === 1 ? sign : `${sign} ${number}`;
    const spoken = words()[name] ? plain(name, { number }) : `${sign} ${number}`; // older translations lack it
    return element("button", { type: "button", "aria-label": spoken, onclick: action }, content);
  }

  /** How many values a larger step passes: 1, 2 or 5 times a power of ten; 0 where there are few values. */
  function jumpOf(question) {
    const numbers = question.labels[language].map(Number);
    if (numbers.length <= MANY_VALUES) return 0;
    const most = (numbers[numbers.length - 1] - numbers[0]) / JUMPS;
    const power = 10 ** Math.floor(Math.log10(most));
    const places = [5, 2, 1].filter((digit) => digit * power <= most).map((digit) => digit * power / question.step);
    return Math.round(places.find((number) => number > 1 && Math.abs(number - Math.round(number)) < 1e-9) ?? 0);
  }

  /** The place of a number among those that may be answered; not a number where it is none of them. */
  function codeOf(question, typed) {
    const digits = typed.trim().replace(",", ".").replace("−", "-");
    if (!/^-?[0-9]+(\.[0-9]+)?$/.test(digits)) return NaN;
    const code = question.labels[language].findIndex((known) => Number(known) === Number(digits));
    return code < 0 ? NaN : code;
  }

  function complain(row, name) {
    const line = document.getElementById(`q${row}-error`);
    line.replaceChildren(name ? plain(name, range(survey.questions[row])) : "");
  }

  const wrongAt = (row) => (answers[row] === null ? "missing" : Number.isNaN(answers[row]) ? "bad_number" : null);

  async function finish() {
    if (roundNow() !== round) return begin(); // another round has begun since the page was opened
    const wrong = answers.map((_, row) => wrongAt(row));
    if (wrong.some(Boolean)) {
      if (hasSteps()) go(wrong.findIndex(Boolean));
      wrong.forEach((name, row) => document.getElementById(`q${row}`) && complain(row, name));
      inputOf(wrong.findIndex(Boolean)).focus();
      return undefined;
    }
    return drawAndSend();
  }

  async function drawAndSend() {
    if (drawing) return undefined;
    drawing = true;
    const person = { answers, link, linked, base, store, memos, round }; // while it waits, another link may be opened here
    try {
      await alone(base, () => drawFor(person));
    } catch {
      answers = null;
      return show("not_drawn"); // the browser failed, and nothing was sent
    } finally {
      drawing = false;
    }
    if (!person.store.get()) return begin(); // nothing may be drawn any more
    return store === person.store ? resume() : deliver(person.store);
  }

  /** Draw and store; done when it is on the disk, for only then it may be sent. */
  async function drawFor(person) {
    await recall(person.base, person.link);
    // Another tab may have drawn meanwhile: its bytes are the ones that count, and these answers go unused.
    if (person.store.get()) {
      answers = null;
      return;
    }
    if (code) {
      await keepCode(person);
      return;
    }
    const body = panel ? drawFromMemo(person) : draw(survey, cardOf(person), ...entered(person), person.link);
    if (body) await person.store.set({ body: relinked(body, person.link, "") });
  }

  const cardOf = (person) => (person.linked === null ? card : assigned(card, person.linked));

  /** Draw a code and store it; an error where it is not on the disk, for then it must not be shown. */
  async function keepCode(person) {
    const own = person.store;
    const record = drawCode(survey, card, ...entered(person));
    const journal = await own.set(record);
    const stored = attempt((storage) => storage.getItem(own.name));
    if (journal === own.name && stored === JSON.stringify(record)) return;
    await own.set(null);
    throw new Error("The code is not on the disk.");
  }

  /** The codes of the answers, and the places of those that are sent in clear. */
  function entered(person) {
    const places = survey.questions.flatMap((question, row) => (
      question.clear ? [[question.name, String(person.answers[row])]] : []
    ));
    return [codesOf(survey, person.answers), Object.fromEntries(places)];
  }

  /** A report of the memo of the epoch, which is drawn and stored first where there is none; nothing without a claim. */
  function drawFromMemo(person) {
    const record = person.memos.get();
    if (!record?.claimed) return null; // another tab has ended the epoch
    if (!record.memo) {
      const [codes, places] = entered(person);
      person.memos.set({ ...record, memo: drawMemo(card, codes), places });
    }
    return drawRound(survey, card, person.memos.get(), person.link, person.round);
  }

  const alone = (name, action) => (navigator.locks ? navigator.locks.request(name, async () => action()) : action());

  // The report.

  /** Go on from what is stored: nothing, something drawn that is to be sent, or something that was sent. */
  async function resume() {
    const record = store.get();
    if (code) {
      if (record) await store.set(record); // a tab may have been closed before it was on the disk
      shown = { told: false };
      return show(record ? "handing" : "invitation");
    }
    if (!record) {
      show(panel ? memoState() : "invitation");
      return checkOpen();
    }
    if (record.sent) {
      answers = null;
      show("already");
      return checkOpen();
    }
    shown = { body: relinked(record.body, "", link), outcome: "sending", told: false, busy: false, pause: FIRST_PAUSE };
    show("report");
    return send();
  }

  async function send() {
    const current = shown;
    if (current.busy) return;
    current.outcome = "sending";
    render();
    await attemptOf(current);
    if (shown === current) show("report");
  }

  /** Send what is stored; if that does not succeed, again after a while, as long as the page is open. */
  async function attemptOf(current) {
    clearTimeout(current.timer);
    current.busy = true;
    Object.assign(current, { outcome: await deliver(store), busy: false }); // another link may be opened meanwhile
    if (current.outcome !== "again" || shown !== current) return;
    current.timer = setTimeout(retry, current.pause);
    current.pause = Math.min(2 * current.pause, LONGEST_PAUSE);
  }

  /** Send again without being told to; the screen stays as it is unless it succeeds. */
  async function retry() {
    const current = shown;
    if (screen !== "report" || current?.outcome !== "again" || current.busy) return;
    await attemptOf(current);
    if (shown === current && current.outcome !== "again") show("report");
  }

  /**
   * Send what is stored, and remember that it was sent; without a screen, because another link may be open. A collector
   * that is closed refuses only what it has not counted. The bytes are then of no use, but have left the device: nothing
   * may be drawn after them.
   */
  async function deliver(kept) {
    const record = kept.get();
    if (record.sent) return record.late ? LATE : "sent";
    const outcome = await posted(relinked(record.body, "", kept.link));
    if (outcome === "sent") await kept.set({ sent: true });
    if (outcome === LATE) await kept.set({ sent: true, late: true });
    return outcome;
  }

  /** What the collector answered: sent, again (nothing was answered, or to come later), or a reason why not. */
  async function posted(body) {
    const status = await answered({ method: "POST", body, headers: { "Content-Type": "application/json" } });
    if (status === 200 || status === 201) return "sent";
    return status === 0 || status === 408 || status === 429 || status >= 500 ? "again" : String(status);
  }

  /** The status of the collector's answer, which repeats it; 0 where there was none, or one of a proxy or portal. */
  async function answered(content, address = survey.address) {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), 20000);
    try {
      const response = await fetch(address, {
        ...content,
        credentials: "omit",
        cache: "no-store",
        redirect: "error",
        referrerPolicy: "no-referrer",
        signal: patience.signal,
      });
      if (response.status === 204) return 204;
      return (await response.json()).status === response.status ? response.status : 0;
    } catch {
      return 0;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Learn whether the collector takes answers; where it does not, say so, unless something is being sent. */
  async function checkOpen() {
    const own = store;
    const address = new URL(survey.address, location.href);
    address.searchParams.set("survey", survey.identity);
    const status = await answered({ method: "GET" }, address);
    if (own !== store) return; // another link was opened here meanwhile
    shut = { 404: "not_open", 410: "closed" }[status] ?? "";
    if (screen === "already") show("already");
    const asks = ["invitation", "moment", "again", "questions"].includes(screen);
    if (!shut || !asks || drawing || store.get()) return;
    answers = null;
    show(shut === "closed" && screen === "questions" ? "closed_meanwhile" : shut);
  }

  function report() {
    const { outcome, body } = shown;
    const bytes = bytesOf(body);
    const title = heading(survey.title[language]);
    const state = (name, values) => paragraph(name, values, { role: "status" });
    if (outcome === "sent") {
      const last = paragraph("you_may_close", {}, { class: "quiet" });
      return [title, subheading(say("sent")), ...meaning(), ...account(), ...sentBytes(), ...upcoming(), last];
    }
    if (outcome === "sending") {
      return [title, subheading(say("drawn")), paragraph("drawn_text"), bytes, state("sending")];
    }
    if (outcome === "again") {
      const closing = lasting ? paragraph("may_reopen") : paragraph("not_kept", {}, { class: "warning" });
      const again = buttons(button("send_again", send, "main"));
      const rest = [paragraph("drawn_text"), bytes];
      return [title, subheading(say("not_sent")), state("not_sent_text"), closing, again, ...rest];
    }
    if (outcome === LATE) {
      const last = paragraph("you_may_close", {}, { class: "quiet" });
      return [title, subheading(say("late")), state("late_text"), ...sentBytes(), last];
    }
    const reason = outcome === "403" ? "refused_link" : "refused_other";
    return [title, subheading(say("refused")), state(reason, { status: outcome })];
  }

  /** The code that was drawn, and after it was handed in what it says. */
  function handing() {
    const { body, handed } = store.get();
    const noted = async () => {
      await alone(base, () => store.get() && store.set({ ...store.get(), handed: true }));
      resume();
    };
    const forget = async () => {
      await alone(base, () => store.set(null));
      begin();
    };
    const groups = body.split("-").map((group) => element("span", {}, group));
    const copied = element("p", { role: "status", class: "quiet" });
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(body);
        copied.replaceChildren(plain("copied"));
      } catch {
        getSelection().selectAllChildren(document.getElementById("code"));
      }
    };
    return [
      heading(survey.title[language]),
      subheading(say(handed ? "handed_title" : "shown")),
      handed ? null : paragraph("shown_text"),
      element("p", { id: "code", class: "code", dir: "ltr", translate: "no" }, groups),
      handed ? null : buttons(button("copy", copy)),
      handed ? null : copied,
      handed ? null : element("div", { class: "center" }, qrPicture(body, plain("qr")), paragraph("qr_text")),
      ...(handed ? meaning() : []),
      paragraph("shown_again"),
      handed ? null : buttons(button("handed", noted, "main")),
      ...(handed ? [paragraph("you_may_close"), element("hr", {}), paragraph("next_text")] : []),
      handed ? buttons(button("someone_else", forget)) : null,
    ];
  }

  /** What was drawn, and the answers that go with it as they are. */
  const contents = () => (code ? store.get() : JSON.parse(shown.body));

  const bytesOf = (body) => element("pre", { tabindex: "0", dir: "ltr" }, body);

  /** The bytes, and what stands in them, name by name; not before they are sent, for nobody chooses by what was drawn. */
  function sentBytes() {
    const content = JSON.parse(shown.body);
    const codes = (meaning, digits) => say("bytes_code", { code: element("code", {}, digits), answer: quote(meaning) });
    const lines = [
      ["id", say("bytes_id")],
      ["link", say(content.link ? "bytes_link" : "bytes_no_link")],
      ["pad", say("bytes_pad")],
      ...survey.questions.filter((question) => question.clear).map(({ name, ...question }) => (
        [name, codes(label(question, Number(content.public[name])), content.public[name])]
      )),
      ...drawnCodes(content.report).map(([name, meaning]) => (
        [name, meaning ? codes(meaning, content.report[name]) : say("bytes_drawn")]
      )),
      ["round", say("bytes_round")],
      ["survey", say("bytes_survey")],
    ];
    return [
      paragraph("sent_text"),
      bytesOf(shown.body),
      element(
        "details", {}, element("summary", {}, say("bytes")),
        element("ul", {}, lines.map(([name, text]) => element("li", {}, element("code", {}, name), " – ", text))),
      ),
    ];
  }

  /** The columns of a report, and what each means where that is one answer or one question. */
  function drawnCodes(columns) {
    const readings = readingOf(survey, columns).map(({ attribute, codes }) => [survey.attributes[attribute], codes]);
    const picked = sampled ? [attributeName(readings[0][0])] : [];
    const answer = ([known, codes]) => (known.reading === "value" ? attributeLabel(known, codes[0]) : null);
    const meanings = [...picked, ...readings.map(answer)];
    return card.columns.map(({ name }, place) => [name, meanings[place]]);
  }

  /** What the bytes say in words; on wish, whether that is true. */
  function meaning() {
    const readings = readingOf(survey, contents().report);
    const lines = readings.map((reading) => element(
      "div", { class: "meaning" },
      sampled && survey.attributes.length > 1 ? paragraph(picked()) : null,
      element("p", { class: "lead" }, spoken(reading)),
      paragraph(survey.attributes[reading.attribute].reading === "value" ? "says_chance" : "says_chance_hint"),
      shown.told && answers ? element("p", { role: "status" }, truth(reading), " ", say("only_you")) : null,
    ));
    const toggle = () => {
      shown.told = !shown.told;
      render();
      place.querySelector("#told button").focus();
    };
    const forgotten = words().was_forgotten && !panel ? paragraph("was_forgotten", {}, { class: "quiet" }) : null;
    const told = answers ? buttons(button(shown.told ? "hide" : "was_it_true", toggle)) : forgotten;
    if (answers) told.setAttribute("id", "told");
    return [...lines, ...sentInClear(), told];
  }

  function picked() {
    if (tables) return "says_pair";
    return guarded.length === 1 && words().says_choice ? "says_choice" : "says_question";
  }

  /** The answers that the bytes have as they are. */
  function sentInClear() {
    const places = contents().public;
    return survey.questions.filter((question) => question.clear).map((question) => paragraph("says_clear", {
      question: quote(question.text[language]), answer: quote(label(question, Number(places[question.name]))),
    }, { class: "clear" }));
  }

  function spoken({ attribute, codes, groups }) {
    const known = survey.attributes[attribute];
    const question = quote(attributeName(known));
    if (known.reading === "open") return say("says", { question, groups: figure(groups) });
    const answer = (code) => quote(attributeLabel(known, code));
    if (known.reading === "value") return say("says", { question, answer: answer(codes[0]) });
    if (known.reading === "list") {
      if (!codes.length) return say("says_nothing", { question });
      return say("says_list", { question, answers: element("span", {}, separated(codes.map(answer))) });
    }
    const [low, high] = [codes[0], codes[codes.length - 1]].map((code) => attributeLabel(known, code));
    return codes.length === 1 ? say("says_number", { question, answer: low }) : say("says_range", { question, low, high });
  }

  function truth({ attribute, fits }) {
    const known = survey.attributes[attribute];
    const own = codesOf(survey, answers)[attribute];
    if (known.reading === "open") return say(fits(own) ? "was" : "was_not");
    const kinds = { value: ["was_true", "was_not_true"], list: ["was_among", "was_not_among"] };
    const [right, wrong] = kinds[known.reading] ?? ["was_near", "was_not_near"];
    return say(fits(own) ? right : wrong, { answer: quote(attributeLabel(known, own)) });
  }

  function already() {
    const forget = async () => {
      await alone(base, () => store.get()?.sent && store.set(null)); // what another tab has drawn and not sent stays
      resume();
    };
    const title = heading(survey.title[language]);
    if (store.get()?.late) return [title, subheading(say("late")), paragraph("late_text")];
    if (shut === "closed") return [title, subheading(say("closed")), paragraph("closed_already"), ...account()];
    if (panel) {
      return [title, subheading(say("already_round", { round: figure(round) })), ...account(), ...upcoming()];
    }
    const isShared = !survey.links && shut === ""; // somebody else may answer
    return [...notice("already"), isShared ? buttons(button("someone_else", forget)) : null];
  }

  function upcoming() {
    if (!panel) return [];
    return [round < panel.opens.length ? opening("round_opens", round + 1) : paragraph("no_more_rounds")];
  }

  // Where it begins, and begins again.

  /** The token of a personal link, and in rotation the place of its question; nothing of what is no link, or mistyped. */
  function linkIn(fragment) {
    if (!survey.links) return ["", null];
    const form = /^(([A-Za-z0-9_-]{16,32})(?:\.(0|[1-9][0-9]{0,3}))?)\.([0-9]{2})$/;
    const [, named, token, question, check] = form.exec(fragment) ?? [];
    if (!named || linkCheck(named) !== check) return [];
    if (!survey.assigned) return question === undefined ? [token, null] : [];
    return Number(question) < survey.attributes.length ? [token, Number(question)] : [];
  }

  async function begin() {
    const own = {};
    beginning = own;
    [answers, shown, screen, shut] = [null, null, null, null];
    place.replaceChildren();
    const [token, question] = linkIn(location.hash.slice(1));
    if (location.protocol === "file:" && !code) return show("from_disk");
    const isLocal = code && location.protocol !== "http:"; // of a file, nobody on the way can have changed it
    if (!isLocal && !window.isSecureContext && !survey.insecure_demo) return show("insecure");
    if (code && !isLasting(sizeOf(survey))) return show("storage");
    if (token === undefined) return show("needs_link");
    const prefix = await nameFor(survey, token);
    await alone(prefix, () => recall(prefix, token));
    if (beginning !== own) return undefined; // it began anew meanwhile
    [answers, shown, link, linked, base] = [null, null, token, question, prefix];
    [round, lasting] = [roundNow(), isLasting(sizeOf(survey))];
    store = kept(panel ? `round.${round}` : "");
    memos = panel ? kept(`epoch.${epochOf(round)}`) : null;
    if (!round) return show("not_yet");
    if (panel) settlePast();
    return resume();
  }

  /** Memos of past epochs are deleted, and none follows them; what was drawn in a past round goes out now. */
  function settlePast() {
    for (let epoch = 1; epoch < epochOf(round); epoch += 1) {
      const past = kept(`epoch.${epoch}`);
      if (past.get() && !past.get().used) past.set({ used: true });
    }
    for (let past = 1; past < round; past += 1) {
      const late = kept(`round.${past}`);
      if (late.get()?.body) deliver(late);
    }
  }

  window.addEventListener("pagehide", () => {
    answers = null;
    place.replaceChildren();
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) begin();
  });
  window.addEventListener("hashchange", () => begin());
  window.addEventListener("popstate", cameBack);
  window.addEventListener("beforeprint", () => {
    for (const part of place.querySelectorAll("details")) part.open = true; // paper has nothing to unfold
  });
  window.addEventListener("online", retry);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") retry();
  });
  window.addEventListener("storage", (event) => {
    if (event.key !== store?.name) return;
    if (code) {
      begin(); // another tab has drawn, or somebody else answers there
      return;
    }
    if (!store.get()) return;
    const waits = screen === "report" && shown.outcome === "again" && store.get().sent;
    if (screen === "invitation" || screen === "moment" || screen === "questions" || waits) {
      answers = null; // another tab of this person has drawn, and sends
      show("already");
      if (shut === null) checkOpen();
    }
  });
  begin();
}

function preferred(languages) {
  const wanted = (navigator.languages ?? []).map((code) => code.toLowerCase());
  const fits = (code) => languages.find((known) => [code, code.split("-")[0]].includes(known.toLowerCase()));
  return wanted.map(fits).find(Boolean) ?? languages[0];
}

if (typeof document !== "undefined") start(JSON.parse(document.getElementById("data").textContent));
