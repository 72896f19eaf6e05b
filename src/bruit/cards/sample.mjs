// The sampler of bruit: the answers of one person become one randomised report, by the law that a card states.
//
// It runs on the respondent's device, and only what `sample` returns need ever leave it. All numbers that decide
// something are whole (BigInt): a draw compares random 64-bit words with the integer weights of the card, so every
// probability is exactly the one from which the privacy loss was computed. docs/reference/cards.md specifies each step,
// and the functions here have the names that it uses.

const WORDS = 2n ** 64n;

/** A card from the text that was served. Hash the bytes as they came; never serialise a card again. */
export function read(text) {
  const card = JSON.parse(text);
  if (card.format !== "bruit.card/1") throw new Error("This is not a card of the format bruit.card/1.");
  const { weights, columns, questions } = card;
  return {
    ...card,
    weights: whole(weights),
    columns: columns.map((column) => ({ ...column, bytes: Number(column.bytes) })),
    questions: questions.map(({ law, sets, prior, memo, refresh, ...texts }) => ({
      ...texts, law: whole(law), sets: whole(sets), prior: whole(prior), memo: whole(memo), refresh: whole(refresh),
    })),
  };
}

/** A part of a card with every decimal string as a BigInt. */
function whole(part) {
  if (typeof part === "string") return /^[0-9]+$/.test(part) ? BigInt(part) : part;
  if (Array.isArray(part)) return part.map(whole);
  return part && Object.fromEntries(Object.entries(part).map(([name, item]) => [name, whole(item)]));
}

/**
 * One report: an object with a text for each column of the card.
 *
 * `codes` has the place of each answer among the values of its question, those of questions sent in clear last.
 * `nextWord` returns the next random word, a BigInt below 2^64; by default words come from the operating system.
 */
export function sample(card, codes, nextWord = systemWord) {
  if (card.rounds) throw new Error("This card asks the same person again: keep drawMemo(...), and send refresh(memo).");
  const [own, clear] = checked(card, codes);
  return texts(card, [...METHODS[card.method](card, own, nextWord), ...clear]);
}

/** The card of a person to whom a question was assigned at random: all of the weight is on it, by its place. */
export function assigned(card, place) {
  if (card.method !== "SMP") throw new Error("A question is assigned where one of several is reported on.");
  return { ...card, weights: card.questions.map((_, other) => (other === place ? 1n : 0n)) };
}

/**
 * The memo of one person for one epoch: an object with a text for each column of the card, like a report.
 *
 * Keep it on the device for as long as the epoch lasts, whatever the answers become, and show it to nobody: it tells
 * all that the reports of the epoch may tell. A memo that is drawn again costs as much as another epoch.
 */
export function drawMemo(card, codes, nextWord = systemWord) {
  if (!card.rounds) throw new Error("This card asks once, and has no memo: send sample(...).");
  const memory = { ...card, questions: card.questions.map((question) => ({ ...question, law: question.memo })) };
  const [own, clear] = checked(card, codes);
  return texts(card, [...METHODS[card.method](memory, own, nextWord), ...clear]);
}

/** The report of one round, from the memo of its epoch. Draw it once, keep it, and send that, also in a retry. */
export function refresh(card, memo, nextWord = systemWord) {
  if (!card.rounds) throw new Error("This card asks once, and has no memo: send sample(...).");
  const messages = card.columns.map((column) => numberOf(bytesOf(column, memo[column.name])));
  const clear = messages.splice(messages.length - (card.public ?? []).length);
  if (card.method !== "SMP") {
    const own = card.questions.map((question, place) => renewed(question, messages[place], nextWord));
    return texts(card, [...own, ...clear]);
  }
  const [which, message] = messages;
  return texts(card, [which, renewed(card.questions[which], message, nextWord), ...clear]);
}

/** Codes as BigInt, if there is one for each question: of the answers that are private, and of those sent in clear. */
function checked(card, codes) {
  const every = [...card.questions, ...(card.public ?? [])];
  const fits = codes.length === every.length && codes.every(
    (code, place) => Number.isInteger(code) && code >= 0 && code < answersOf(every[place]),
  );
  if (!fits) throw new RangeError("There must be one code per question: the place of the answer among its values.");
  const places = codes.map(BigInt);
  const clear = places.splice(card.questions.length);
  return [places, clear];
}

/** How many codes a question has: one per answer, or where any text is an answer one per text of so many bits. */
function answersOf({ values, sets }) {
  return sets?.kind === "parity" ? 2 ** Number(sets.bits) : values.length;
}

function texts(card, messages) {
  return Object.fromEntries(card.columns.map((column, place) => [column.name, text(column, messages[place])]));
}

/** A report as bytes, the columns one after the other: as many for every answer. */
export function pack(card, report) {
  return Uint8Array.from(card.columns.flatMap((column) => bytesOf(column, report[column.name])));
}

// How the questions of a person are reported: one alone, all of them, one that is told, or one among fakes.

const METHODS = {
  one: everyQuestion,
  SPL: everyQuestion,
  SMP: sampledQuestion,
  "RS+FD": amongFakes,
  "RS+RFD": amongFakes,
};

function everyQuestion(card, codes, next) {
  return card.questions.map((question, place) => message(question, codes[place], next));
}

function sampledQuestion(card, codes, next) {
  const which = weighted(card.weights, next);
  return [BigInt(which), message(card.questions[which], codes[which], next)];
}

function amongFakes(card, codes, next) {
  const which = uniform(BigInt(card.questions.length), next);
  return card.questions.map((question, place) => faked(question, codes[place], BigInt(place) === which, next));
}

/** The message of the true answer, or of one that stands in for it; the same is drawn either way. */
function faked(question, code, isTrue, next) {
  if (question.fake === "zeros") return message(question, isTrue ? code : null, next);
  const standIn = question.prior
    ? BigInt(weighted(question.prior, next))
    : uniform(BigInt(question.values.length), next);
  if (question.fake === "noise") return message(question, isTrue ? code : standIn, next);
  const own = message(question, code, next);
  return isTrue ? own : standIn;
}

// Rounds: a memo is shown again, or something drawn in its place.

function renewed({ memo: law, sets, refresh: weight }, memo, next) {
  if (law.shape === "bits") return turned(sets, memo, weight, next);
  return next() < weight ? fresh(law, sets, memo, next) : memo;
}

/** A word for each bit, which turns it over if it is below the weight. */
function turned({ values }, memo, weight, next) {
  let row = memo;
  for (let value = 0n; value < values; value += 1n) {
    if (next() < weight) row ^= 1n << value;
  }
  return row;
}

/** Any message, all equally likely; a hash function stays that of the memo. */
function fresh(law, sets, memo, next) {
  const number = uniform(law.outcomes, next);
  if (sets.kind !== "hash") return SETS[sets.kind].other(sets, number, next);
  const digits = sets.pool ? 32n : 128n;
  return BigInt.asUintN(Number(digits), memo) | (number << digits);
}

// The shapes of laws: from a code and words to a message, which is a whole number.

const SHAPES = { two_level, bits, distance, leaning, mixed };

function message(question, code, next) {
  return SHAPES[question.law.shape](question.law, question.sets, code, next);
}

/** A message that supports the value with the larger weight, or any message at all. */
function two_level(law, sets, code, next) {
  return choose(law, sets, code, below(totalOf(law), next), next);
}

function choose(law, sets, code, word, next) {
  const step = law.inside - law.outside;
  const kept = step * law.members;
  const { member, other } = SETS[sets.kind];
  return word < kept
    ? member(sets, code, word / step, next)
    : other(sets, (word - kept) / law.outside, next);
}

function totalOf(law) {
  return law.inside * law.members + law.outside * (law.outcomes - law.members);
}

/** A bit for each value, one word each: the own one is set more often than the others. */
function bits(law, sets, code, next) {
  let row = 0n;
  for (let value = 0n; value < sets.values; value += 1n) {
    if (next() < (value === code ? law.own : law.other)) row |= 1n << value;
  }
  return row;
}

/** A place some steps to the left or right of the value; the nearer, the likelier. */
function distance(law, sets, code, next) {
  const last = law.weights.length - 1;
  const place = Number(code * law.stride);
  const clamped = law.ends === "clamp";
  const left = sum(law.weights.slice(0, clamped ? last + 1 : place + 1));
  const right = sum(law.weights.slice(1, clamped ? last + 1 : last + 1 - place));
  const share = uniform(left + right, next);
  const found = share < left
    ? place - stretch(law.weights, share)
    : place + stretch(law.weights, share - left + law.weights[0]);
  return BigInt(Math.min(Math.max(found, 0), last));
}

/** One of two messages; the upper one is the likelier the higher the value. */
function leaning(law, sets, code, next) {
  return lean(law, code, below(leaningTotal(law), next));
}

function lean(law, code, word) {
  return word < law.least + code * law.slope ? 1n : 0n;
}

function leaningTotal(law) {
  return 2n * law.least + (law.cells - 1n) * law.slope;
}

/** The words of a leaning coin come first, then those of a window; the coin's messages stand behind the window's. */
function mixed({ coin, window }, sets, code, next) {
  const first = leaningTotal(coin);
  const word = below(first + totalOf(window), next);
  return word < first ? window.outcomes + lean(coin, code, word) : choose(window, sets, code, word - first, next);
}

// The sets: which messages support a value. `member` draws one of these, `other` any message.

const itself = (sets, number) => number;

const SETS = {
  self: { member: (sets, code) => code, other: itself },
  window: { member: (sets, code, number) => code + number, other: itself },
  listed: { member: (sets, code, number) => sets.rows[code][number], other: itself },
  subset: {
    member: (sets, code, number, next) => subset(sets, code, next),
    other: (sets, number, next) => subset(sets, number, next),
  },
  hadamard: { member: hadamard, other: itself },
  projective: { member: projective, other: itself },
  hash: {
    member: (sets, code, number, next) => hashed(sets, next, (a, b) => bucket(sets, code, a, b)),
    other: (sets, number, next) => hashed(sets, next, () => number),
  },
  parity: {
    member: (sets, code, number, next) => named(next(), (id) => parities(sets, code, id)),
    other: (sets, number, next) => named(next(), () => number),
  },
};

/** An id, and above it the bucket that it is sent with. */
function named(id, bucketBy) {
  return id | (bucketBy(id) << 64n);
}

/** The bucket of a text of bits, or of its first bits: bit i is the parity of what it has in common with row i. */
export function parities({ parities: size, bits: length, prefix, share }, code, id) {
  const value = (id & 1023n) < share ? code >> (length - prefix) : code;
  const word = id >> 10n;
  let own = 0n;
  for (let row = 0n; row < size; row += 1n) {
    if (odd((word >> row) & value)) own |= 1n << row;
  }
  return own;
}

/** The set of `first` and size - 1 other values, all such sets equally likely, as bits: no order is left in it. */
function subset({ values, size }, first, next) {
  let others = 0n;
  for (let last = values - size; last < values - 1n; last += 1n) {
    const place = uniform(last + 1n, next);
    others |= 1n << ((others >> place) & 1n ? last : place);
  }
  const lower = others & ((1n << first) - 1n);
  return ((others - lower) << 1n) | (1n << first) | lower;
}

/** Row `number` among those in which the column of the value has sign +: free bits, and one that evens the parity. */
function hadamard({ rows }, code, number) {
  const block = code / (rows - 1n);
  const column = (code % (rows - 1n)) + 1n;
  const lowest = column & -column;
  const below = number & (lowest - 1n);
  const free = ((number - below) << 1n) | below;
  return block * rows + (free | (odd(free & column) ? lowest : 0n));
}

function odd(row) {
  let parity = false;
  for (let rest = row; rest; rest &= rest - 1n) parity = !parity;
  return parity;
}

/** Point `number` of the hyperplane of the value: a point with a coordinate less, and one that the others decide. */
function projective({ prime, dimension }, code, number) {
  const value = point(prime, code);
  const found = point(prime, number);
  while (found.length < dimension - 1n) found.push(0n);
  const level = Number(dimension) - value.length;
  found.splice(level, 0, 0n);
  const product = sum(value.map((x, place) => x * found[found.length - 1 - place]));
  found[level] = (prime - (product % prime)) % prime;
  return pointNumber(prime, found);
}

/** The coordinates of a point, the lowest first, up to its leading 1. */
function point(prime, number) {
  let leading = 0n;
  while (firstPoint(prime, leading + 1n) <= number) leading += 1n;
  let rest = number - firstPoint(prime, leading);
  const digits = [];
  for (; leading > 0n; leading -= 1n, rest /= prime) digits.push(rest % prime);
  return [...digits, 1n];
}

function pointNumber(prime, digits) {
  let leading = digits.length - 1;
  while (digits[leading] === 0n) leading -= 1;
  const below = digits.slice(0, leading).reduceRight((number, digit) => number * prime + digit, 0n);
  return firstPoint(prime, BigInt(leading)) + below;
}

/** How many points have their leading 1 below this place. */
function firstPoint(prime, place) {
  return (prime ** place - 1n) / (prime - 1n);
}

/** A hash function, from the pool or of one's own, and above it the bucket that it is sent with. */
function hashed({ pool }, next, bucketBy) {
  if (pool) {
    const number = uniform(BigInt(pool.length), next);
    return number | (bucketBy(...pool[number]) << 32n);
  }
  const [a, b] = [next(), next()];
  return a | (b << 64n) | (bucketBy(a, b) << 128n);
}

/** The bucket of a value: a random line modulo 2^64 at the value's scrambled code, cut into equal parts. */
function bucket({ buckets }, code, a, b) {
  const hash = BigInt.asUintN(64, a * scrambled(code) + b) >> 32n;
  return (hash * buckets) >> 32n;
}

function scrambled(code) {
  let word = BigInt.asUintN(32, code + 0xa54ff53an);
  for (const [shift, factor] of [[16n, 0x6a09e667n], [15n, 0xbb67ae85n], [17n, 0x3c6ef373n]]) {
    word = BigInt.asUintN(32, (word ^ (word >> shift)) * factor);
  }
  return word ^ (word >> 16n);
}

// Words.

/** The next word below the total; those at or past it are skipped. */
function below(total, next) {
  let word = next();
  while (word >= total) word = next();
  return word;
}

/** A whole number below `choices`, all equally likely; a few words, which would favour some, are skipped. */
function uniform(choices, next) {
  const unfair = WORDS % choices;
  let product = next() * choices;
  while (BigInt.asUintN(64, product) < unfair) product = next() * choices;
  return product >> 64n;
}

/** A place, as often as its weight says. */
function weighted(weights, next) {
  return stretch(weights, uniform(sum(weights), next));
}

/** The place in whose stretch a number falls, where stretches as long as the weights lie end to end. */
function stretch(weights, number) {
  let place = 0;
  for (let end = weights[0]; end <= number; end += weights[place]) place += 1;
  return place;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0n);
}

/** Words of the operating system, taken many at a time; each is wiped when it is used. */
function systemWords(size = 1024) {
  const words = new BigUint64Array(size);
  let place = size;
  return () => {
    if (place === size) {
      crypto.getRandomValues(words);
      place = 0;
    }
    const word = words[place];
    words[place] = 0n;
    place += 1;
    return word;
  };
}

const systemWord = systemWords();

// Texts and bytes.

/** Decimal digits, or two hexadecimal digits for each byte, the least first. */
function text(column, number) {
  if (column.dtype !== "bytes") return number.toString();
  return littleEndian(number, column.bytes).map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(column, report) {
  if (column.dtype !== "bytes") return littleEndian(BigInt(report), column.bytes);
  return report.match(/../g).map((pair) => parseInt(pair, 16));
}

function numberOf(bytes) {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function littleEndian(number, size) {
  return Array.from({ length: size }, (_, place) => Number((number >> BigInt(8 * place)) & 255n));
}
