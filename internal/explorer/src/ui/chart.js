// Charts by uPlot. Colours follow the theme.
import { html, useEffect, useRef } from '../../vendor/preact.js';
import { uPlot } from '../../vendor/uplot.js';
import { instant } from '../format.js';
import { themeChanges } from '../theme.js';
import { useStore } from '../store.js';

const probe = document.createElement('span');
probe.hidden = true;

// style is a colour of style.css as a canvas takes it: light-dark() is resolved only where a property uses it.
function style(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

// palette are colours that stay apart for most people: https://jfly.uni-koeln.de/color/
export const palette = ['--chart-1', '--chart-2', '--chart-3', '--chart-4', '--chart-5', '--chart-6', '--chart-7', '--chart-8'];

// color is the i-th of them; alpha from 0 to 1 makes it lighter.
export const color = (i, alpha = 1) => style(palette[i % palette.length]).replace(/^rgb\((.*)\)$/, (all, parts) =>
  `rgba(${parts}, ${alpha})`);

// axis has the look of all axes; more replaces parts of it.
export const axis = (more = {}) => ({
  stroke: style('--muted'), grid: { stroke: style('--line'), width: 1 }, ticks: { stroke: style('--line'), width: 1 },
  font: '11px system-ui', ...more,
});

// timeAxis has times of the day, for charts of minutes.
export const timeAxis = () => axis({
  space: 70, values: (plot, times) => times.map((unix) => instant(unix, { hour: '2-digit', minute: '2-digit', second: '2-digit' })),
});

// Chart draws data (uPlot's columns) with the options that make(width) gives; label describes it for screen readers.
// The chart is made anew when options change, and only gets new data otherwise.
export function Chart({ make, data, height = 220, label, deps = [] }) {
  const host = useRef(null);
  const plot = useRef(null);
  const theme = useStore(themeChanges);
  useEffect(() => {
    const width = host.current.clientWidth || 600;
    plot.current = new uPlot({ width, height, ...make(width) }, data, host.current);
    const element = host.current; // the reference is empty once the chart has left the page, before the observer ends
    const resized = new ResizeObserver(() => { if (element.isConnected) plot.current?.setSize({ width: element.clientWidth, height }); });
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.current.destroy();
      plot.current = null;
    };
  }, [theme, height, ...deps]);
  useEffect(() => { plot.current?.setData(data); }, [data]);
  return html`<div class="chart" ref=${host} role="img" aria-label=${label}></div>`;
}
