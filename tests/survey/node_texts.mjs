// Runs the normalisation of open answers in Node: texts come as lists of UTF-16 units, codes go out.

import { counted, textCode } from "../../src/bruit/survey/open_text.mjs";

let input = "";
for await (const chunk of process.stdin) input += chunk;

const { points, texts, letters } = JSON.parse(input);
const every = [
  ...points.map((point) => String.fromCodePoint(point)),
  ...texts.map((units) => String.fromCharCode(...units)),
];
process.stdout.write(JSON.stringify(every.map((text) => [textCode(text, letters), counted(text, letters)])));
