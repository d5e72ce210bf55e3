// The figure takes its colours from the page's style, which knows whether the system is dark.
const dark = matchMedia("(prefers-color-scheme: dark)");
function paint() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  const plot = document.getElementById("frontier");
  const isProved = (point) => point[4] === "proved optimal";
  const inside = plot.data[1].customdata.map((point) => of(isProved(point) ? "blue" : "paper"));
  const [ink, paper, line, blue] = ["ink", "paper", "line", "blue"].map(of);
  Plotly.restyle(plot, { "line.color": of("red"), fillcolor: of("pink") }, [0]);
  Plotly.restyle(plot, { "line.color": blue, "marker.line.color": blue, "marker.color": [inside] }, [1]);
  Plotly.restyle(plot, { "marker.color": ink }, [2]);
  Plotly.relayout(plot, {
    paper_bgcolor: paper, plot_bgcolor: paper,
    "font.color": ink, "font.size": plot.clientWidth < 560 ? 11 : 14,
    "xaxis.gridcolor": line, "yaxis.gridcolor": line,
    "xaxis.zerolinecolor": line, "yaxis.zerolinecolor": line,
    "hoverlabel.bgcolor": of("box"), "hoverlabel.font.color": ink,
  });
}
dark.addEventListener("change", paint);
paint();
