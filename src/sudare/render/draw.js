// Draws every chart of the page. A chart may come in several layouts, widest first; the first that fits is drawn,
// again whenever another one comes to fit. (Bundled with Vega, Vega-Lite and vega-embed, which it names below.)
for (const source of document.querySelectorAll("script[data-chart]")) {
  const { datasets, layouts } = JSON.parse(source.textContent);
  const place = document.getElementById(source.dataset.chart);
  let shown = -1;
  const draw = () => {
    const fitting = layouts.findIndex(({ width }) => width <= place.clientWidth);
    const chosen = fitting < 0 ? layouts.length - 1 : fitting;
    if (chosen === shown) return;
    shown = chosen;
    const scaleFactor = Math.max(2, window.devicePixelRatio || 1);
    const options = { mode: "vega-lite", actions: false, scaleFactor, tooltip: { theme: "light" } };
    vegaEmbed(place, { ...layouts[chosen].spec, datasets }, options)
      .catch((problem) => { place.textContent = place.dataset.failed + " " + problem.message; });
  };
  draw();
  new ResizeObserver(draw).observe(place);
}
