/** Edits of the programmes of a draft; pure: each returns the next list, without fields that say nothing. */
import type { ContentDocument, ProgrammeDraft } from '../model/document.ts';
import { freeId, replaceAt } from '../model/edit.ts';
import { timesOf, type Window } from './geometry.ts';

type Programmes = readonly ProgrammeDraft[];

/** Without the fields that are null or undefined. */
export const tidied = (programme: ProgrammeDraft): ProgrammeDraft =>
  Object.fromEntries(Object.entries(programme).filter(([, value]) => value != null)) as ProgrammeDraft;

/** What people call it: its name, or that of its playlist. */
export const nameOf = (programme: ProgrammeDraft, document: ContentDocument): string =>
  programme.name || playlistName(programme.playlist_id, document);

export const playlistName = (id: string, { playlists = [] }: ContentDocument): string =>
  playlists.find((each) => each.id === id)?.name || id;

const newId = (programmes: Programmes, base: string, end?: string): string =>
  freeId(
    base,
    programmes.map(({ id }) => id),
    end,
  );

/** A new one at the end, which precedes the others of its rank. @param idEnd of its id */
export const added = (
  programmes: Programmes,
  { target, playlist_id, weekday, window }: { target: string; playlist_id: string; weekday: number; window: Window },
  idEnd?: string,
): ProgrammeDraft[] => [
  ...programmes,
  tidied({
    id: newId(programmes, playlist_id, idEnd),
    targets: [target],
    playlist_id,
    days: [weekday],
    ...timesOf(window),
  }),
];

/** The days of a programme that are due each week; null: every day, or dates alone. */
const weekly = ({ days }: ProgrammeDraft): readonly number[] | null => days ?? null;

/** Makes a weekday of the programmes of a target like another one. Those of every day and of dates stay. */
export const dayCopied = (
  programmes: Programmes,
  target: string,
  from: number,
  to: readonly number[],
): ProgrammeDraft[] =>
  programmes.flatMap((programme) => {
    const days = weekly(programme);
    if (days === null || !programme.targets.includes(target)) return [programme];
    const kept = days.filter((day) => !to.includes(day));
    const next = days.includes(from) ? [...new Set([...kept, ...to, from])].sort() : kept;
    if (next.length > 0) return [{ ...programme, days: next }];
    const { days: _, ...rest } = programme;
    return (programme.dates?.length ?? 0) > 0 ? [rest] : [];
  });

/** One weekday of a programme as a programme of its own, after it. @param idEnd of its id */
export const daySplit = (programmes: Programmes, index: number, weekday: number, idEnd?: string): ProgrammeDraft[] => {
  const programme = programmes[index];
  const days =
    programme === undefined ? null : (weekly(programme) ?? (programme.dates == null ? [1, 2, 3, 4, 5, 6, 7] : null));
  if (programme === undefined || days === null || days.length < 2 || !days.includes(weekday)) return [...programmes];
  const { dates: _, ...rest } = programme;
  const own = { ...rest, id: newId(programmes, programme.id, idEnd), days: [weekday] } as ProgrammeDraft;
  const others = { ...programme, days: days.filter((day) => day !== weekday) };
  return [...programmes.slice(0, index), others, own, ...programmes.slice(index + 1)];
};

/** On one date alone. */
export const onDate = (programmes: Programmes, index: number, date: string): ProgrammeDraft[] => {
  const programme = programmes[index];
  if (programme === undefined) return [...programmes];
  const { days: _, ...rest } = programme;
  return replaceAt(programmes, index, { ...rest, dates: [date] });
};
