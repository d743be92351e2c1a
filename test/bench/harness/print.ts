/** Tables as text, and as Markdown. */
import type { Goal, Row, Spread, Table } from './report.ts';

const digits = (value: number): number => (Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);

const number = (value: number): string =>
  Number.isFinite(value)
    ? value.toLocaleString('en', { maximumFractionDigits: digits(value), minimumFractionDigits: digits(value) })
    : '-';

const range = ({ min, max }: Spread): string => `${number(min)} to ${number(max)}`;

/** Of what is nothing there is no ratio. */
const ratioText = (ratio: Spread): string =>
  !Number.isFinite(ratio.max)
    ? 'none'
    : `${ratio.median.toFixed(2)} [${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}]`;

const goalText = ({ against, most, least }: Goal): string => {
  const bounds = [
    ...(most === undefined ? [] : [`at most ${Number(most.toFixed(2))}`]),
    ...(least === undefined ? [] : [`at least ${Number(least.toFixed(2))}`]),
  ];
  return `${bounds.join(', ')}${against === undefined ? '' : ` of ${against}`}`;
};

const goalsOf = ({ goals }: Table): string[] =>
  goals.map((goal) => {
    const { value, isMet, reason } = goal;
    if (Number.isNaN(value)) return `goal: ${goalText(goal)}: not measured`;
    const result = `goal: ${goalText(goal)}: ${value.toFixed(2)}, ${isMet ? 'met' : 'missed'}`;
    return isMet || reason === undefined ? result : `${result}. ${reason}`;
  });

export const asText = (table: Table): string => {
  const [first] = table.rows;
  const line = ({ name, value, ratio, missed }: Row): string => {
    if (value === null) return `  ${name.padEnd(44)} missed: ${missed}`;
    const compared = ratio === null ? '' : `  ${first?.name} / this: ${ratioText(ratio)}`;
    return `  ${name.padEnd(44)} ${number(value.median).padStart(9)}  [${range(value)}]${compared}`;
  };
  const title = `\n${table.title} (${table.unit}, median of ${table.rounds} rotated rounds)`;
  return [title, ...table.rows.map(line), ...goalsOf(table).map((goal) => `  ${goal}`)].join('\n');
};

export const asMarkdown = (table: Table): string => {
  const [first] = table.rows;
  const line = ({ name, value, ratio, missed }: Row): string =>
    value === null
      ? `| ${name} | not measured: ${missed} | | |`
      : `| ${name} | ${number(value.median)} | ${range(value)} | ${ratio === null ? '' : ratioText(ratio)} |`;
  return [
    `**${table.title}** (${table.unit}, ${table.rounds} rounds)`,
    '',
    `| | median | spread | ${first?.name} / this |`,
    '| --- | ---: | ---: | ---: |',
    ...table.rows.map(line),
    ...goalsOf(table).flatMap((goal) => ['', `- ${goal}`]),
    '',
  ].join('\n');
};
