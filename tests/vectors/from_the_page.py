"""docs/vectors.md in plain Python, sentence by sentence: nothing of bruit is used, and nothing of NumPy."""

from __future__ import annotations

import decimal
import hashlib
import json
import math
from fractions import Fraction

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

WORD = 2**64
CELL = 2**32


# Keystream.


def hash_key(key, purpose, number):
    size = max(1, -(-number.bit_length() // 8))
    named = purpose.encode()
    message = len(named).to_bytes(8, "little") + named + number.to_bytes(size, "little")
    return hashlib.blake2b(message, digest_size=32, key=key, person=b"bruit/entropy/1").digest()


def key_of_seed(seed, purpose=""):
    return hash_key(b"", f"seed/{purpose}" if purpose else "seed", seed)


def part(key, number):
    return hash_key(key, "child", number)


class Stream:
    """Bytes and words under a key; or stated ones, of which no more may be taken than there are."""

    def __init__(self, key=None, content=b""):
        self.cipher = None if key is None else Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
        self.content, self.used = content, 0

    @classmethod
    def of_words(cls, words):
        return cls(content=b"".join(word.to_bytes(8, "little") for word in words))

    def bytes(self, size):
        while self.cipher and len(self.content) < self.used + size:
            self.content += self.cipher.update(bytes(1024))
        if len(self.content) < self.used + size:
            raise EOFError("The vector has no more words or bytes.")
        self.used += size
        return self.content[self.used - size : self.used]

    def word(self):
        return int.from_bytes(self.bytes(8), "little")

    @property
    def all_used(self):
        return self.used == len(self.content)


# Digests.

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def canonical(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(map(_character, value)) + '"'
    if isinstance(value, int):
        return str(value) if abs(value) <= 2**53 - 1 else f'"{value}"'
    if isinstance(value, float):
        return _double(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"


def _character(character):
    if character in ESCAPES:
        return ESCAPES[character]
    return f"\\u{ord(character):04x}" if ord(character) < 0x20 else character


def _double(value):
    sign = "-" if math.copysign(1, value) < 0 else ""
    if value == 0:
        return sign + "0.0"
    texts = (f"{abs(value):.{digits}e}" for digits in range(17))
    mantissa, exponent = next(text for text in texts if float(text) == abs(value)).split("e")
    digits, d = mantissa.replace(".", ""), int(exponent)
    if not -4 <= d < 16:
        point = f"{digits[0]}.{digits[1:]}" if digits[1:] else digits
        return f"{sign}{point}e{'-' if d < 0 else '+'}{abs(d):02}"
    if d < 0:
        return f"{sign}0.{'0' * (-d - 1)}{digits}"
    digits = digits.ljust(d + 1, "0")
    return f"{sign}{digits[: d + 1]}.{digits[d + 1 :] or '0'}"


def digest(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:32]


def sealed_digest(text):
    document = json.loads(text)
    return digest({key: value for key, value in document.items() if key != "digest"})


def design_digest(text):
    document = json.loads(text)
    return digest({key: value for key, value in document.items() if key not in ("digest", "format")})


# Noise.


def below(bound, stream):
    mask = 0
    while mask < bound - 1:
        mask = 2 * mask + 1
    while True:
        draw = stream.word() & mask
        if draw < bound:
            return draw


def one_in(k, stream):
    if k == 2:
        return stream.word() >= 2**63
    share = (WORD - 1) // k
    while True:
        word = stream.word()
        if word < share * k:
            return word < share


def exp_fraction(a, b, stream):
    k = 1
    while below(b, stream) < a:
        k += 1
        if not one_in(k, stream):
            break
    return k % 2 == 1


def exp_one(stream):
    limit = WORD - WORD % math.factorial(15)
    word = stream.word()
    while word >= limit:
        word = stream.word()
    k = 2
    while k <= 15 and word < limit // math.factorial(k):
        k += 1
    if k == 16:
        while one_in(k, stream):
            k += 1
    return k % 2 == 1


def laplace(t, b, stream):
    mask = 0
    while mask < t - 1:
        mask = 2 * mask + 1
    while True:
        word = stream.word()
        u = word & mask
        if u >= t or (u > 0 and not exp_fraction(u, t, stream)):
            continue
        n = 0
        while exp_one(stream):
            n += 1
        size = min((u + n * t) // b, 2**62)
        if word < 2**63:
            return size
        if size:
            return -size


def gaussian(sigma2, stream):
    root = math.isqrt(math.floor(sigma2))
    t = root if root * root == sigma2 else root + 1
    c, d = (sigma2 / t).as_integer_ratio()
    while True:
        y = laplace(t, 1, stream)
        if abs(y) <= 127 * t and _keeps(abs(abs(y) * d - c), t * d, 2 * c, stream):
            return y


def _keeps(g, f, h, stream):
    p = -(-g // min(f, h))
    for _ in range(p * p):
        k = 1
        while below(f * p, stream) < g and below(h * p, stream) < g:
            k += 1
            if not one_in(k, stream):
                break
        if k % 2 == 0:
            return False
    return True


def staircase(step, inner, outside, decay, stream):
    if stream.word() >= outside:
        return below(2 * inner - 1, stream) - inner + 1
    v = inner
    while stream.word() < decay:
        v = min(v + step, 2**62)
    z = below(2 * step, stream)
    size = min(v + z // 2, 2**62)
    return -size if z % 2 else size


def noise(vector, stream):
    """One draw of the law of a vector."""
    if vector["law"] == "laplace":
        return laplace(*map(int, vector["scale"]), stream)
    if vector["law"] == "gaussian":
        return gaussian(_fraction(vector["sigma2"]), stream)
    return staircase(*(int(vector[name]) for name in ("step", "inner", "outside", "decay")), stream)


def seeded_noise(vector):
    seeded = vector["seeded"]
    stream = Stream(part(key_of_seed(int(seeded["seed"]), "draw/" + seeded["design"]), 0))
    return [noise(vector, stream) for _ in seeded["noise"]]


def laplace_scale(epsilon, change=1):
    exact = Fraction(epsilon)
    low = exact * (1 - Fraction(1, 10**9))
    denominator = 1
    while math.ceil(low * denominator) > exact * denominator:
        denominator += 1
    return change / Fraction(math.ceil(low * denominator), denominator)


# Choices.


class Weights:
    """The weights of a step, and the draws with them."""

    def __init__(self, step):
        with decimal.localcontext(prec=80):
            power = (-decimal.Decimal(step.numerator) / step.denominator).exp()
            scaled = power * (1 + decimal.Decimal("1e-70")) * 2**192
            self.factor = int(scaled.to_integral_value(decimal.ROUND_CEILING))
        self.table, self.settled = [2**96], False

    def up_to(self, score):
        while len(self.table) <= score and not self.settled:
            after = -(-self.table[-1] * self.factor // 2**192)
            self.settled = after == self.table[-1]
            if not self.settled:
                self.table.append(after)
        return self.table[: score + 1]

    def draw(self, sizes, stream):
        weights = self.up_to(len(sizes) - 1)
        last = len(weights) - 1
        sizes = [*sizes[:last], sum(sizes[last:])]
        rest = large(sum(size * weight for size, weight in zip(sizes, weights, strict=True)), stream)
        for score, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
            if rest < size * weight:
                return score, rest // weight
            rest -= size * weight
        raise AssertionError


def large(bound, stream):
    digits = (bound - 1).bit_length()
    size = -(-digits // 8)
    while True:
        number = int.from_bytes(stream.bytes(size), "little") >> (8 * size - digits)
        if number < bound:
            return number


# Places.


def record_places(counts):
    """The places of all records, in order."""
    places = []
    for cell, count in enumerate(counts):
        inside = (int(f"{i:032b}"[::-1], 2) for i in range(1, min(count, CELL - 1) + 1))
        places += [cell * CELL + place for place in inside]
    return sorted(places)


def draw_forest(forest, counts, points, stream):
    records, result = record_places(counts), []
    for tree in forest:
        _draw_tree(tree, records, 0, len(counts) * CELL - 1, points, stream, result)
    return sorted(result)


def _draw_tree(node, records, low, high, points, stream, result):
    if node is None:
        return
    leaf = node["left"] is None and node["right"] is None
    place = _draw_place(node, records, low, high, points and leaf, stream)
    result.append(place)
    before = [record for record in records if record < place]
    _draw_tree(node["left"], before, low, place, points, stream, result)
    _draw_tree(node["right"], records[len(before) :], place, high, points, stream, result)


def _draw_place(node, records, low, high, whole, stream):
    (a, b), grain = map(int, node["share"]), int(node["grain"])
    weights = Weights(_fraction(node["step"]))
    stretches = []
    for first, last, fewest, most in (_by_cell if whole else _by_record)(records, low, high):
        score = max(0, a * len(records) - b * most, b * fewest - a * len(records)) // grain
        stretches.append((first, last, min(score, len(weights.up_to(score)) - 1)))
    sizes = [0] * (1 + max(score for *_, score in stretches))
    for first, last, score in stretches:
        sizes[score] += last - first + 1
    drawn, offset = weights.draw(sizes, stream)
    for first, last, score in stretches:
        if score == drawn:
            if offset <= last - first:
                return first + offset
            offset -= last - first + 1
    raise AssertionError


def _by_record(records, low, high):
    """Stretches of places with as many records before them: first place, last place, and that number twice."""
    first = low
    for rank, record in enumerate(records):
        if record >= first:
            yield first, min(record, high), rank, rank
            first = record + 1
    if first <= high:
        yield first, high, len(records), len(records)


def _by_cell(records, low, high):
    """The places of each cell, with the records before the cell, and those up to its end."""
    for cell in range(low // CELL, high // CELL + 1):
        before = sum(record < cell * CELL for record in records)
        until = sum(record < (cell + 1) * CELL for record in records)
        yield max(low, cell * CELL), min(high, (cell + 1) * CELL - 1), before, until


# Releases.


def publish(vector):
    """What a release publishes with its seed."""
    document = json.loads(vector["document"])
    design = design_digest(vector["document"])
    top = Stream(key_of_seed(int(vector["seed"]), f"release/{design}")).bytes(32)
    published = {}
    for number, statistic in enumerate(document["statistics"]):
        name, own = statistic["name"], part(top, number)
        counts = [int(count) for count in vector["counts"][name]]
        if statistic["kind"] == "median":
            places = draw_forest(vector["forest"], counts, points=True, stream=Stream(own))
            published[name] = [place // CELL for place in places]
        else:
            stream, scale = Stream(part(own, 0)), laplace_scale(statistic["epsilon"])
            published[name] = [count + laplace(*scale.as_integer_ratio(), stream) for count in counts]
    return published


def _fraction(pair):
    return Fraction(int(pair[0]), int(pair[1]))
