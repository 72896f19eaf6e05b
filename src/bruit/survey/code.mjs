// Codes of a survey as codes.py describes them, and QR codes of them.

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const GROUP = 4;
const [TEXT, CHECK] = [2, 4];
const CONSTANT = [25, 18, 7, 12];

// Codes.

/** A code in groups of four: the id, the values of the slots of the form, marks and check characters. */
export function codeOf(form, id, values) {
  const payload = form.slots.reduce((total, [, , size], place) => total * BigInt(size) + values[place], id);
  const [factor, summand, bits] = form.key.map(BigInt);
  const mark = ((factor * payload + summand) % (1n << bits)) >> (bits - BigInt(5 * TEXT));
  const body = [form.title, ...digits(mark, TEXT), ...digits(payload, form.length - 1 - TEXT - CHECK)];
  const code = [...body, ...checkDigits(body)].map((digit) => LETTERS[digit]).join("");
  return code.match(new RegExp(`.{1,${GROUP}}`, "g")).join("-");
}

/** A random number below a limit, all alike. */
export function randomBelow(limit) {
  const bits = (limit - 1n).toString(2).length;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (;;) {
    const number = crypto.getRandomValues(bytes).reduce((total, byte) => total * 256n + BigInt(byte), 0n);
    const cut = number & ((1n << BigInt(bits)) - 1n);
    if (cut < limit) return cut;
  }
}

function digits(number, length) {
  return Array.from({ length }, (_, place) => Number((number >> BigInt(5 * (length - 1 - place))) & 31n));
}

/** A finite field: products of elements, and powers of its generator. */
function field(size, polynomial) {
  const powers = [1];
  while (powers.length < 2 * size) {
    const next = powers[powers.length - 1] * 2;
    powers.push(next >= size ? next ^ polynomial : next);
  }
  const exponents = new Map(powers.slice(0, size - 1).map((element, exponent) => [element, exponent]));
  const times = (a, b) => (a && b ? powers[exponents.get(a) + exponents.get(b)] : 0);
  return { powers, times };
}

/** A Reed–Solomon code: its check symbols are the rest of a division by (x − αᶠ)(x − αᶠ⁺¹)…, f being `from`. */
function checkCode({ powers, times }, number, from) {
  let generator = [1];
  for (let root = from; root < from + number; root += 1) {
    const product = generator.map((coefficient) => times(coefficient, powers[root]));
    generator = [...generator, 0].map((coefficient, place) => coefficient ^ (place ? product[place - 1] : 0));
  }
  return (symbols) => symbols.reduce((rest, symbol) => {
    const first = symbol ^ rest[0];
    return [...rest.slice(1), 0].map((next, place) => next ^ times(first, generator[place + 1]));
  }, Array(number).fill(0));
}

const checkOf = checkCode(field(32, 0x25), CHECK, 1);

function checkDigits(body) {
  return checkOf(body).map((digit, place) => digit ^ CONSTANT[place]);
}

// QR codes (ISO/IEC 18004) of versions 1 and 2, alphanumeric, error correction M: up to 38 characters.

const QR_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";
const QR_VERSIONS = [{ data: 16, check: 10 }, { data: 28, check: 16 }];
const QR_MASKS = [
  (row, column) => (row + column) % 2,
  (row) => row % 2,
  (_, column) => column % 3,
  (row, column) => (row + column) % 3,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2,
  (row, column) => ((row * column) % 2) + ((row * column) % 3),
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2,
];

/** The modules of a QR code, row by row; true is dark. */
export function qrModules(text) {
  const bits = qrBits(text);
  const version = QR_VERSIONS.findIndex(({ data }) => bits.length <= 8 * data) + 1;
  if (!version) throw new RangeError("This text is too long for a small QR code.");
  const codewords = qrCodewords(bits, QR_VERSIONS[version - 1]);
  const drawn = QR_MASKS.map((_, mask) => qrDrawn(version, codewords, mask));
  const penalties = drawn.map(qrPenalty);
  return drawn[penalties.indexOf(Math.min(...penalties))];
}

const binary = (number, length) => Array.from({ length }, (_, place) => (number >> (length - 1 - place)) & 1);

/** Mode, number of characters, and two characters in eleven bits. */
function qrBits(text) {
  const values = [...text].map((letter) => QR_LETTERS.indexOf(letter));
  const bits = [...binary(2, 4), ...binary(values.length, 9)];
  for (let place = 0; place < values.length; place += 2) {
    const isPair = place + 1 < values.length;
    bits.push(...(isPair ? binary(values[place] * 45 + values[place + 1], 11) : binary(values[place], 6)));
  }
  return bits;
}

function qrCodewords(bits, { data, check }) {
  const padded = [...bits, ...binary(0, Math.min(4, 8 * data - bits.length))];
  while (padded.length % 8) padded.push(0);
  const codewords = Array.from({ length: padded.length / 8 }, (_, place) => (
    padded.slice(8 * place, 8 * place + 8).reduce((total, bit) => 2 * total + bit, 0)
  ));
  for (let filler = 236; codewords.length < data; filler ^= 236 ^ 17) codewords.push(filler);
  return [...codewords, ...checkCode(field(256, 0x11d), check, 0)(codewords)];
}

function qrDrawn(version, codewords, mask) {
  const size = 17 + 4 * version;
  const modules = Array.from({ length: size }, () => Array(size).fill(null));
  const square = (row, column, radius, isDark) => {
    for (let r = -radius; r <= radius; r += 1) {
      for (let c = -radius; c <= radius; c += 1) {
        const inside = modules[row + r]?.[column + c] !== undefined;
        if (inside) modules[row + r][column + c] = isDark(Math.max(Math.abs(r), Math.abs(c)));
      }
    }
  };
  for (const [row, column] of [[3, 3], [3, size - 4], [size - 4, 3]]) {
    square(row, column, 4, (far) => far !== 2 && far !== 4);
  }
  if (version > 1) square(size - 7, size - 7, 2, (far) => far !== 1);
  for (let place = 8; place < size - 8; place += 1) modules[6][place] = modules[place][6] = place % 2 === 0;
  qrFormat(modules, mask);
  qrData(modules, codewords, mask);
  return modules;
}

/** Error correction M and the mask, with their own check, twice. */
function qrFormat(modules, mask) {
  const size = modules.length;
  let rest = mask << 10;
  for (let place = 14; place >= 10; place -= 1) if ((rest >> place) & 1) rest ^= 0x537 << (place - 10);
  const bits = binary(((mask << 10) | rest) ^ 0x5412, 15).map(Boolean);
  const corner = [0, 1, 2, 3, 4, 5, 7, 8].map((column) => [8, column]);
  corner.push(...[7, 5, 4, 3, 2, 1, 0].map((row) => [row, 8]));
  bits.forEach((bit, place) => {
    const [row, column] = corner[place];
    modules[row][column] = bit;
    if (place < 7) modules[size - 1 - place][8] = bit;
    else modules[8][size - 15 + place] = bit;
  });
  modules[size - 8][8] = true;
}

/** The codewords from the lower right corner on, two columns at a time, up and down. */
function qrData(modules, codewords, mask) {
  const size = modules.length;
  const bits = codewords.flatMap((word) => binary(word, 8));
  let used = 0;
  let upwards = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5; // the column of the timing pattern
    for (let step = 0; step < size; step += 1) {
      const row = upwards ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (modules[row][column] === null) {
          const bit = bits[used] === 1; // the remainder bits are 0
          used += 1;
          modules[row][column] = bit !== (QR_MASKS[mask](row, column) === 0);
        }
      }
    }
    upwards = !upwards;
  }
}

/** How hard a code is to read: runs of one colour, squares of one colour, and dark against light. */
function qrPenalty(modules) {
  const size = modules.length;
  const dark = modules.flat().filter(Boolean).length / size ** 2;
  let penalty = 10 * Math.floor(Math.abs(dark - 0.5) * 20);
  for (const lines of [modules, modules.map((_, column) => modules.map((row) => row[column]))]) {
    for (const line of lines) {
      for (const run of line.map(Number).join("").match(/0{5,}|1{5,}/g) ?? []) penalty += run.length - 2;
    }
  }
  for (let row = 1; row < size; row += 1) {
    for (let column = 1; column < size; column += 1) {
      const four = [modules[row][column], modules[row - 1][column], modules[row][column - 1], modules[row - 1][column - 1]];
      if (four.every((module) => module === four[0])) penalty += 3;
    }
  }
  return penalty;
}
