// The address keeps the case and the place: #case=2&timeline is the second case's timeline.
"use strict";

function caseInAddress(cases) {
  const found = /^#case=(\d+)/.exec(location.hash);
  return found ? Math.min(Math.max(Number(found[1]), 1), cases) - 1 : 0;
}

const placeInAddress = () => /^#(?:case=\d+&?)?([a-z]*)$/.exec(location.hash)?.[1] ?? "";

// Of a place in the case that is shown; the first case is not said.
function addressOf(place) {
  const parts = [...(chooseCase && caseNow ? [`case=${caseNow + 1}`] : []), ...(place ? [place] : [])];
  return "#" + parts.join("&");
}

const goTo = (place) => document.getElementById(place)?.scrollIntoView();

// A section's heading has a link to it.
function anchored(section) {
  const head = section.querySelector("h2"), link = element("a", { class: "anchor", href: addressOf(section.id), "aria-label": "Link to: " + head.textContent }, "#");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    history.replaceState(null, "", addressOf(section.id));
    goTo(section.id);
  });
  head.append(" ", link);
  return section;
}

// What belongs to a case is marked while that is shown.
function showsCase(made, of) {
  made.dataset.case = of;
  if (of === caseNow) made.setAttribute("aria-current", "true");
}

function markCase() {
  for (const made of document.querySelectorAll("[data-case]")) {
    if (Number(made.dataset.case) === caseNow) made.setAttribute("aria-current", "true");
    else made.removeAttribute("aria-current");
  }
  for (const link of document.querySelectorAll(".anchor")) link.href = addressOf(link.closest("section").id);
}
