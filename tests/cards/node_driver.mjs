// Runs the sampler in Node for tests/cards/test_javascript.py: jobs come as JSON on standard input, answers go out.
// The first argument is the address of the sampler's module.

const { assigned, drawMemo, pack, read, refresh, sample } = await import(process.argv[2]);

let input = "";
for await (const chunk of process.stdin) input += chunk;

/** For each vector whether the report, its bytes and the number of words used are as they should be. */
function compare({ card: text, vectors, place }) {
  const card = place === undefined ? read(text) : assigned(read(text), place);
  return vectors.map(({ codes, words, report, packed, memo }) => {
    let used = 0;
    const next = () => BigInt(words[used++]);
    try {
      const kept = memo && drawMemo(card, codes.map(Number), next);
      if (memo && JSON.stringify(kept) !== JSON.stringify(memo)) return false;
      const drawn = memo ? refresh(card, kept, next) : sample(card, codes.map(Number), next);
      const names = Object.keys(drawn);
      const bytes = Buffer.from(pack(card, drawn)).toString("hex");
      return used === words.length && bytes === packed && names.length === Object.keys(report).length
        && names.every((name) => drawn[name] === report[name]);
    } catch {
      return false;
    }
  });
}

/** How often each report came in so many draws, by words of the operating system. */
function count({ card: text, codes, draws }) {
  const card = read(text);
  const seen = {};
  for (let i = 0; i < draws; i += 1) {
    const drawn = card.rounds ? refresh(card, drawMemo(card, codes)) : sample(card, codes);
    const report = Object.values(drawn).join(" ");
    seen[report] = (seen[report] ?? 0) + 1;
  }
  return seen;
}

/** Whether codes, or a place, are refused. */
function refused({ card: text, codes, place }) {
  try {
    sample(place === undefined ? read(text) : assigned(read(text), place), codes);
    return "";
  } catch (error) {
    return String(error);
  }
}

const answers = JSON.parse(input).map((job) => ({ compare, count, refused })[job.task](job));
process.stdout.write(JSON.stringify(answers));
