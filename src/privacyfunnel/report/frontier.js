// The figure takes its colours from the page's style, which knows whether the system is dark.
const dark = matchMedia("(prefers-color-scheme: dark)");
function paint() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  const plot = document.getElementById("frontier");
  const narrow = plot.clientWidth < 560;
  const [ink, paper, line, blue] = ["ink", "paper", "line", "blue"].map(of);
  Plotly.restyle(plot, { "line.color": of("red"), fillcolor: of("pink") }, [0]);
  Plotly.restyle(plot, { "line.color": blue, "marker.line.color": blue, "marker.color": paper }, [1]);
  Plotly.restyle(plot, { "marker.color": blue }, [2]);
  Plotly.restyle(plot, { "marker.color": ink }, [3]);
  Plotly.relayout(plot, {
    paper_bgcolor: paper, plot_bgcolor: paper,
    "font.color": ink, "font.size": narrow ? 12 : 14, "font.family": getComputedStyle(document.body).fontFamily,
    "margin.l": narrow ? 56 : 72, "legend.y": narrow ? -0.2 : -0.14,
    "xaxis.gridcolor": line, "yaxis.gridcolor": line,
    "xaxis.zerolinecolor": line, "yaxis.zerolinecolor": line,
    "hoverlabel.bgcolor": of("box"), "hoverlabel.font.color": ink,
  });
}
dark.addEventListener("change", paint);
addEventListener("resize", paint); // sizes of letters, too, depend on the width
paint();
