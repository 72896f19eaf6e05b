// The code of a text that somebody types, as bruit.domains.OpenText has it: six bits for each of its first letters.
//
// Two spellings of one answer have one code: capitals, accents that no sign stands for, what shows nothing, kinds of
// dashes and apostrophes, and spaces around and between words do not count. JavaScript has no case folding, so the
// letters that it lowers in another way stand here by name.

const SIGNS = "\0\ufffd abcdefghijklmnopqrstuvwxyz0123456789-'./&àáâäçèéêëíîïñóôöùúûü";
const OTHER_SIGN = 1;
// The signs that alone are no answer: letters without a sign of their own, spaces, and marks such as a dash.
const NO_ANSWER = `${SIGNS[OTHER_SIGN]} -'./&`;
const SPELT_OUT = { æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ħ: "h", ŧ: "t", ı: "i" };
for (const letter of "\u02bc\u2018\u2019\u201b\u2032`") SPELT_OUT[letter] = "'";
for (const letter of "\u2010\u2011\u2012\u2013\u2014\u2015\u2212") SPELT_OUT[letter] = "-";
// What shows nothing: the sign of an end, soft hyphens, joiners, fillers, marks of direction, variation selectors.
const UNSEEN = new RegExp(
  "[\0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    + "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]",
  "gu",
);
// Accents that stand by themselves because no letter has them.
const ACCENTS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/gu;
// What separates words in Python: without a byte order mark, with the separators of ASCII and the next line.
const SPACE = "[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+";
const SPACES = new RegExp(SPACE, "u");
const FIRST_SPACES = new RegExp(`^${SPACE}`, "u");
// How many characters of a text are looked at, as in Python: long runs of accents take long to put in order.
const LOOKED_AT = 200;
// Letters whose folded form has more letters than their small one: capitals have them all.
const LONGER = /^[ßẞ\u0345\u1f80-\u1fff]$/u;

/** A text as open answers are compared: what is seen of it, NFKC, folded case, one space between words. */
export function normalised(text) {
  const small = Array.from(seen(text).normalize("NFKC"), (letter) => (
    LONGER.test(letter) ? letter.toLowerCase().toUpperCase().toLowerCase() : letter.toLowerCase()
  ));
  const folded = Array.from(small.join("").normalize("NFKC").replace(ACCENTS, ""), plain);
  return folded.join("").split(SPACES).filter(Boolean).join(" ");
}

/** What is seen of a text. Half a letter stays by itself, whatever is taken out beside it: Python joins no halves. */
function seen(text) {
  return text.replace(/\p{Surrogate}/gu, "\ufffd").replace(UNSEEN, "");
}

/** A letter that has a sign or another spelling as that; one that has it but for its accents likewise. */
function plain(letter) {
  if (SIGNS.includes(letter)) return letter;
  const [base] = letter.normalize("NFD");
  return SPELT_OUT[base] ?? (SIGNS.includes(base) ? base : letter);
}

/** The code of a text, which is a whole number below 2^48; null where it has no letter or digit among those that count. */
export function textCode(text, letters) {
  const signs = Array.from(cut(text, letters), signOf);
  if (signs.every((sign) => NO_ANSWER.includes(SIGNS[sign]))) return null;
  return Array.from({ length: letters }, (_, place) => signs[place] ?? 0).reduce((code, sign) => 64 * code + sign, 0);
}

/** The letters of a text that count, as a person reads them. */
export function counted(text, letters) {
  if (textCode(text, letters) === null) return "";
  return Array.from(cut(text, letters), (letter) => SIGNS[signOf(letter)]).join("");
}

/** The letters of a normalised text that count; a word that ends there is one answer with it and the next. */
function cut(text, letters) {
  const start = Array.from(seen(text).replace(FIRST_SPACES, "")).slice(0, LOOKED_AT).join("");
  return Array.from(normalised(start)).slice(0, letters).join("").trimEnd();
}

/** The number of the sign of a letter of a normalised text; all others have one together. */
function signOf(letter) {
  const own = SIGNS.indexOf(letter);
  return own < 0 ? OTHER_SIGN : own;
}
