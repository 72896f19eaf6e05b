const data = JSON.parse(document.getElementById("data").textContent);
const sheets = [];
const make = (name, text, action) => {
  const element = document.createElement(name);
  element.textContent = text;
  if (action) element.addEventListener("click", action);
  return element;
};
function show() {
  document.getElementById("answers").replaceChildren(...data.questions.flatMap((question, row) => [
    make("h2", question.text),
    ...question.labels.map((label, code) => {
      const button = make("button", label, () => { sheets.push([row, code]); show(); });
      button.append(make("b", String(sheets.filter(([own, other]) => own === row && other === code).length)));
      return button;
    }),
  ]));
  const saves = data.questions.map(({ name }, row) => {
    // In the order of the answers, so that the file does not keep the order of the sheets.
    const codes = sheets.filter(([own]) => own === row).map(([, code]) => code).sort((a, b) => a - b);
    const save = make("a", data.save.replace("{count}", codes.length) + " – " + name + ".csv");
    save.href = "data:text/csv;charset=utf-8," + encodeURIComponent([name, ...codes].join("\n") + "\n");
    save.download = name + ".csv";
    return save;
  });
  document.getElementById("ends").replaceChildren(make("button", data.undo, () => { sheets.pop(); show(); }), ...saves);
}
show();
