"use strict";
// What a suspicion can become: Bayes' rule multiplies its odds by e^epsilon at most, and divides them by it at most.
for (const box of document.querySelectorAll(".odds")) {
  const [before, epsilon] = box.querySelectorAll("input");
  const [shownBefore, shownEpsilon, after] = box.querySelectorAll("output");
  const language = document.documentElement.lang;
  const percent = (share) => share.toLocaleString(language, { style: "percent", maximumFractionDigits: 1 });
  const bar = box.querySelector(".odds-bar i");
  let moved = false; // until then epsilon is that of the release, to all its digits
  const draw = () => {
    const value = moved ? Number((10 ** epsilon.value).toPrecision(2)) : Number(box.dataset.epsilon);
    const prior = before.value / 100;
    const odds = prior / (1 - prior);
    const [low, high] = [odds * Math.exp(-value), odds * Math.exp(value)].map((one) => one / (1 + one));
    // Rounded outwards: never a narrower range than the truth.
    const shown = { low: percent(Math.floor(low * 1000) / 1000), high: percent(Math.ceil(high * 1000) / 1000) };
    shownBefore.value = percent(prior);
    shownEpsilon.value = value.toLocaleString(language, { maximumSignificantDigits: 4 });
    after.value = after.dataset.said.replace(/\{(\w+)\}/g, (_, name) => shown[name]);
    bar.style.left = `${100 * low}%`;
    bar.style.width = `${100 * (high - low)}%`;
  };
  const reset = () => {
    moved = false;
    epsilon.value = Math.log10(Number(box.dataset.epsilon));
    draw();
  };
  before.addEventListener("input", draw);
  epsilon.addEventListener("input", () => {
    moved = true;
    draw();
  });
  box.querySelector("button").addEventListener("click", reset);
  box.hidden = false;
  reset();
}
