"""docs/reference/cards.md is enough: a sampler that was written from the page alone gives every vector."""

from __future__ import annotations

import json

import pytest

W = 2**64


class Reader:
    """A card as JSON and words as a list; nothing of bruit is used."""

    def __init__(self, content, words):
        self.card, self.words, self.used = json.loads(content), words, 0

    # Words.

    def word(self):
        self.used += 1
        return self.words[self.used - 1]

    def below(self, total):
        w = self.word()
        while w >= total:
            w = self.word()
        return w

    def uniform(self, n):
        product = self.word() * n
        while product % W < W % n:
            product = self.word() * n
        return product // W

    @staticmethod
    def stretch(weights, x):
        i = 0
        while not x < sum(weights[: i + 1]):
            i += 1
        return i

    def weighted(self, weights):
        return self.stretch(weights, self.uniform(sum(weights)))

    # Laws.

    def message(self, question, code):
        law, sets = question["memo" if "rounds" in self.card else "law"], question.get("sets")
        return getattr(self, law["shape"])(law, sets, code)

    def two_level(self, law, sets, code):
        return self.by_levels(law, sets, code, self.below(self.total(law)))

    @staticmethod
    def total(law):
        a, b, s, m = (int(law[name]) for name in ("inside", "outside", "members", "outcomes"))
        return a * s + b * (m - s)

    def by_levels(self, law, sets, code, u):
        a, b, s = (int(law[name]) for name in ("inside", "outside", "members"))
        d = a - b
        kind = getattr(self, "set_" + sets["kind"])
        return kind(sets, code, u // d, True) if u < d * s else kind(sets, code, (u - d * s) // b, False)

    def bits(self, law, sets, code):
        total = 0
        for v in range(int(sets["values"])):
            if self.word() < int(law["own"] if v == code else law["other"]):
                total += 2**v
        return total

    def distance(self, law, _, code):
        w, x = [int(weight) for weight in law["weights"]], code * int(law["stride"])
        m = len(w)
        if law["ends"] == "cut":
            left, right = sum(w[: x + 1]), sum(w[1 : m - x])
        else:
            left, right = sum(w), sum(w[1:])
        u = self.uniform(left + right)
        y = x - self.stretch(w, u) if u < left else x + self.stretch(w, u - left + w[0])
        return 0 if y < 0 else m - 1 if y > m - 1 else y

    @staticmethod
    def coin_total(law):
        return 2 * int(law["least"]) + (int(law["cells"]) - 1) * int(law["slope"])

    def leaning(self, law, _, code):
        u = self.below(self.coin_total(law))
        return 1 if u < int(law["least"]) + code * int(law["slope"]) else 0

    def mixed(self, law, sets, code):
        coin, window = law["coin"], law["window"]
        c = self.coin_total(coin)
        u = self.below(c + self.total(window))
        if u < c:
            return int(window["outcomes"]) + (1 if u < int(coin["least"]) + code * int(coin["slope"]) else 0)
        return self.by_levels(window, sets, code, u - c)

    # Sets: member n of the set of code x, or message number n.

    def set_self(self, _, x, n, member):
        return x if member else n

    def set_window(self, _, x, n, member):
        return x + n if member else n

    def set_listed(self, sets, x, n, member):
        return int(sets["rows"][x][n]) if member else n

    def set_subset(self, sets, x, n, member):
        k, omega = int(sets["values"]), int(sets["size"])
        bits = [0] * (k - 1)
        for j in range(k - omega, k - 2 + 1):
            t = self.uniform(j + 1)
            bits[j if bits[t] else t] = 1
        bits.insert(x if member else n, 1)
        return sum(bit * 2**v for v, bit in enumerate(bits))

    def set_hadamard(self, sets, x, n, member):
        if not member:
            return n
        b = int(sets["rows"])
        j, c = x // (b - 1), x % (b - 1) + 1
        low = 1
        while not c & low:
            low *= 2
        r = n % low
        f = 2 * (n - r) + r
        if bin(f & c).count("1") % 2:
            f += low
        return j * b + f

    def set_projective(self, sets, x, n, member):
        if not member:
            return n
        q, t = int(sets["prime"]), int(sets["dimension"])

        def first(i):
            return (q**i - 1) // (q - 1)

        def point(z, size):
            i = next(i for i in range(size) if first(i) <= z < first(i + 1))
            rest, digits = z - first(i), []
            for _ in range(i):
                digits.append(rest % q)
                rest //= q
            return i, digits + [1] + [0] * (size - i - 1)

        i, value = point(x, t)
        _, y = point(n, t - 1)
        for candidate in range(q):
            there = [*y[: t - 1 - i], candidate, *y[t - 1 - i :]]
            if sum(value[place] * there[t - 1 - place] for place in range(t)) % q == 0:
                break
        lead = max(place for place in range(t) if there[place])
        return first(lead) + sum(there[place] * q**place for place in range(lead))

    def set_hash(self, sets, x, n, member):
        g = int(sets["buckets"])
        if "pool" in sets:
            i = self.uniform(len(sets["pool"]))
            a, b = map(int, sets["pool"][i])
            seed, shift = i, 2**32
        else:
            a = self.word()
            b = self.word()
            seed, shift = a + 2**64 * b, 2**128
        z = (x + 0xA54FF53A) % 2**32
        for s, f in ((16, 0x6A09E667), (15, 0xBB67AE85), (17, 0x3C6EF373)):
            z = (z ^ z // 2**s) * f % 2**32
        z ^= z // 2**16
        bucket = (a * z + b) % 2**64 // 2**32 * g // 2**32
        return seed + shift * (bucket if member else n)

    def set_parity(self, sets, x, n, member):
        t, bits, prefix, share = (int(sets[name]) for name in ("parities", "bits", "prefix", "share"))
        own = self.word()
        if own % 1024 < share:
            x, bits = x // 2 ** (bits - prefix), prefix
        w = own // 1024
        bucket = sum((w // 2**i % 2**bits & x).bit_count() % 2 * 2**i for i in range(t))
        return own + W * (bucket if member else n)

    # Methods and reports.

    def messages(self, codes):
        many = len(self.card["questions"])
        return [*self.drawn(codes[:many]), *codes[many:]]

    def drawn(self, codes):
        questions, method = self.card["questions"], self.card["method"]
        if method in ("one", "SPL"):
            return [self.message(question, code) for question, code in zip(questions, codes, strict=True)]
        if method == "SMP":
            i = self.weighted([int(weight) for weight in self.card["weights"]])
            return [i, self.message(questions[i], codes[i])]
        i = self.uniform(len(questions))
        return [self.faked(question, codes[j], j == i) for j, question in enumerate(questions)]

    def faked(self, question, code, true):
        if question["fake"] == "zeros":
            return self.message(question, code if true else None)
        if "prior" in question:
            v = self.weighted([int(weight) for weight in question["prior"]])
        else:
            v = self.uniform(len(question["values"]))
        if question["fake"] == "noise":
            return self.message(question, code if true else v)
        y = self.message(question, code)
        return y if true else v

    def refreshed(self, messages):
        many = len(messages) - len(self.card.get("public", ()))
        return [*self.renewed_all(messages[:many]), *messages[many:]]

    def renewed_all(self, messages):
        questions = self.card["questions"]
        if self.card["method"] == "SMP":
            i, message = messages
            return [i, self.renewed(questions[i], message)]
        return [self.renewed(question, message) for question, message in zip(questions, messages, strict=True)]

    def renewed(self, question, memo):
        f, law, sets = int(question["refresh"]), question["memo"], question["sets"]
        if law["shape"] == "bits":
            for v in range(int(sets["values"])):
                if self.word() < f:
                    memo ^= 2**v
            return memo
        if self.word() >= f:
            return memo
        n = self.uniform(int(law["outcomes"]))
        if sets["kind"] == "hash":
            shift = 2**32 if "pool" in sets else 2**128
            return memo % shift + shift * n
        return getattr(self, f"set_{sets['kind']}")(sets, n, n, False)

    def report(self, codes):
        messages = self.messages(codes)
        if "rounds" not in self.card:
            return self.texts(messages)
        self.memo = self.texts(messages)
        return self.texts(self.refreshed(messages))

    def texts(self, messages):
        texts = {}
        for column, message in zip(self.card["columns"], messages, strict=True):
            digits = message.to_bytes(int(column["bytes"]), "little").hex()
            texts[column["name"]] = digits if column["dtype"] == "bytes" else str(message)
        return texts


@pytest.mark.audit(share=3)
def test_a_sampler_written_from_the_page_gives_every_report_and_uses_every_word(design):
    for vector in design.card.vectors(20, rng=5):
        reader = Reader(design.card.to_bytes(), vector.words)
        assert reader.report(vector.codes) == vector.report
        assert vector.memo is None or reader.memo == vector.memo
        assert reader.used == len(vector.words)


def test_a_sampler_written_from_the_page_draws_a_report_of_any_text(open_card):
    for vector in open_card.vectors(20, rng=5):
        reader = Reader(open_card.to_bytes(), vector.words)
        assert reader.report(vector.codes) == vector.report
        assert reader.used == len(vector.words)
