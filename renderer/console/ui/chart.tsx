/** A plot over time, by uPlot; loaded on demand. A text alternative is next to it. */
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

export interface Series {
  label: string;
  /** Name of a colour of the page, such as `good`. */
  colour: string;
  values: readonly (number | null)[];
}

interface ChartProps {
  /** ms since the epoch, ascending. */
  times: readonly number[];
  series: readonly Series[];
  /** Stacked bars; else lines. */
  isStacked: boolean;
  /** An axis mark in words. */
  spell(value: number): string;
  spellTime(time: number): string;
}

const HEIGHT = 220;
/** Width of a mark of the time, and of the axis of values. */
const MARK_PIXELS = 60;
const AXIS_PIXELS = 64;
/** Height of the axis of time. */
const TIME_PIXELS = 30;

/** Each series on top of those before it. */
const stacked = (series: readonly Series[]): (number | null)[][] => {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      // A bar of no height would be a line.
      return sum === 0 ? null : sum;
    }),
  );
};

export const Chart = ({ times, series, isStacked, spell, spellTime }: ChartProps) => {
  const box = useRef<HTMLDivElement>(null);
  const key = JSON.stringify([times, series]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`);
    const axis = {
      stroke: colour('soft'),
      font: `12px ${style.fontFamily}`,
      grid: { stroke: colour('line'), width: 1 },
      ticks: { show: false },
    };
    const rows = isStacked ? stacked(series) : series.map(({ values }) => [...values]);
    const drawn = series.map(({ label, colour: name }, index) => ({ label, name, row: rows[index] ?? [] }));
    // The top of a stack is drawn first, and partly covered by the bars below it.
    if (isStacked) drawn.reverse();
    const bars = uPlot.paths.bars?.({ size: [0.7, 60], radius: 0.15 });
    const step = (times[1] ?? 0) - (times[0] ?? 0) || 1;
    const barRange = (): [number, number] => [(times[0] ?? 0) - step / 2, (times.at(-1) ?? 0) + step / 2];
    /** As many ticks as fit. */
    const marks = (): number[] => {
      const every = Math.max(
        1,
        Math.ceil((times.length * MARK_PIXELS) / Math.max(1, element.clientWidth - AXIS_PIXELS)),
      );
      return times.filter((_, index) => index % every === 0);
    };
    const make = (): uPlot =>
      new uPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          legend: { show: false },
          cursor: { show: false },
          scales: {
            x: { time: false, ...(isStacked ? { range: barRange } : {}) },
            y: { range: { min: { soft: 0, mode: 1 }, max: { pad: 0.1 } } },
          },
          axes: [
            {
              ...axis,
              size: TIME_PIXELS,
              values: (_, shown) => shown.map((mark) => spellTime(mark)),
              ...(isStacked ? { splits: marks } : {}),
            },
            { ...axis, size: AXIS_PIXELS, values: (_, shown) => shown.map((mark) => spell(mark)) },
          ],
          series: [
            {},
            ...drawn.map(({ label, name }) => ({
              label,
              stroke: colour(name),
              ...(isStacked && bars !== undefined
                ? { fill: colour(name), paths: bars, points: { show: false } }
                : { width: 2, points: { show: false } }),
            })),
          ],
        },
        [[...times], ...drawn.map(({ row }) => row)],
        element,
      );
    let plot = make();
    const redraw = (): void => {
      plot.destroy();
      plot = make();
    };
    const observer = new ResizeObserver(() => {
      if (plot.width !== element.clientWidth) redraw();
    });
    observer.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [key]);
  return (
    <figure class="chart">
      <div ref={box} aria-hidden="true" class="chart-plot" />
      <figcaption>
        <ul class="chart-legend">
          {series.map(({ label, colour }) => (
            <li key={label}>
              <i style={{ background: `var(--${colour})` }} /> {label}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
};
