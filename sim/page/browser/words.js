// The glossary behind words: whoever points at one, or tabs to it, reads what it means.
"use strict";

let glossary = []; // [word, meaning, what finds it]

function useGlossary(words) {
  glossary = words.map(([word, meaning]) => [word, meaning.replaceAll("`", ""), new RegExp(`\\b${word}s?\\b`, "i")]);
  glossary.sort((a, b) => b[0].length - a[0].length); // scaling efficiency before efficiency
}

// An element says what a word means while it is pointed at or has the focus.
function behind(made, word, meaning) {
  const show = () => {
    const box = made.getBoundingClientRect();
    showTip(`${word}: ${meaning}`, box.left, box.bottom - 8);
  };
  for (const name of ["pointerenter", "focus"]) made.addEventListener(name, show);
  for (const name of ["pointerleave", "blur"]) made.addEventListener(name, () => { tip.hidden = true; });
  return made;
}

// The text in pieces, each word of the glossary marked where it stands first.
function withWords(text, known = new Set()) {
  for (const [word, meaning, finds] of glossary) {
    const at = known.has(word) ? -1 : text.search(finds);
    if (at < 0) continue;
    known.add(word);
    const found = finds.exec(text)[0];
    const before = withWords(text.slice(0, at), known);
    return [...before, behind(element("dfn", { tabindex: "0" }, found), word, meaning), ...withWords(text.slice(at + found.length), known)];
  }
  return text ? [text] : [];
}

// A button keeps its text, and says what it means.
function explained(button) {
  const found = glossary.find(([, , finds]) => finds.test(button.textContent));
  return found ? behind(button, found[0], found[1]) : button;
}

// The words that the page has, for paper and for whoever wants them all.
function wordsSection(text) {
  const used = glossary.filter(([, , finds]) => finds.test(text)).sort((a, b) => a[0].localeCompare(b[0]));
  const make = () => element("dl", { class: "words" }, ...used.flatMap(([word, meaning]) => [element("dt", {}, word), element("dd", {}, meaning)]));
  return element("section", { id: "words" }, element("h2", {}, "Words"), folded(`What ${used.length} words of this page mean`, make));
}

addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
