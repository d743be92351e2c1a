/** The week of a screen or tag: what plays when, in the draft. */
import { useSignal } from '@preact/signals';
import { useEffect, useId, useMemo } from 'preact/hooks';
import { addDays, instantOf, wallTimeOf } from '../../../service/domain/wall-time.ts';
import type { ContentDocument, ProgrammeDraft } from '../model/document.ts';
import { randomEnd, replaceAt, setList } from '../model/edit.ts';
import { inputOf, instantOfInput } from '../model/local-time.ts';
import { weekOf } from '../model/week.ts';
import { hrefOf } from '../stores/router.ts';
import { useConsole } from '../ui/context.tsx';
import { Empty, FormDialog, IconButton } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Weekdays, weekdays } from '../ui/inputs.tsx';
import { useWanted } from '../ui/wanted.ts';
import { added, dayCopied, daySplit, nameOf, onDate, tidied } from './edits.ts';
import { createEvaluation, subjectOf } from './evaluation.ts';
import { ProgrammeForm } from './form.tsx';
import { timeOf, type Window } from './geometry.ts';
import { Grid, hueOf, type Selection } from './grid.tsx';
import { TargetOptions } from './targets.tsx';
import { Why } from './why.tsx';

const WEEK_MS = 7 * 86_400_000;
/** A programme that is added without the pointer, minutes. */
const NOON: Window = { from: 720, until: 840 };

interface CopyDayProps {
  /** 1 is Monday. */
  from: number;
  onCopy(to: readonly number[]): void;
  onClose(): void;
}

/** Asks on which days of the week the programmes of one are repeated. */
const CopyDay = ({ from, onCopy, onClose }: CopyDayProps) => {
  const { texts, format } = useConsole();
  const words = texts.programmes;
  const others = weekdays.filter((day) => day !== from);
  const chosen = useSignal<readonly number[]>(others);
  return (
    <FormDialog
      title={words.copyTitle({ day: format.weekday(from) })}
      submit={words.copy}
      disabled={chosen.value.length === 0}
      onClose={onClose}
      onSubmit={() => {
        if (chosen.value.length > 0) onCopy(chosen.value);
        onClose();
      }}
    >
      <p>{words.copyTask({ day: format.weekday(from) })}</p>
      <Weekdays chosen={chosen.value} days={others} onChange={(days) => (chosen.value = days)} />
    </FormDialog>
  );
};

interface WeekPageProps {
  document: ContentDocument;
  /** `all`, `tag:NAME`, or the slug of a screen; absent: all. */
  target: string | undefined;
  /** The id of the programme that the address names. */
  wanted: string | undefined;
  /** The field of it that has the focus. */
  field: string | undefined;
}

export const WeekPage = ({ document, target: shown, wanted, field }: WeekPageProps) => {
  const { draft: openDraft, texts, format, clock, timeZone, router, announcer } = useConsole();
  const draft = openDraft();
  const words = texts.programmes;
  const targetId = useId();
  const offset = useSignal(0);
  const brush = useSignal<string | null>(null);
  const selected = useSignal<Selection | null>(null);
  const copied = useSignal<number | null>(null);
  /** ms since the epoch; null: now. */
  const chosen = useSignal<number | null>(null);
  const pointed = useSignal<number | null>(null);

  const playlists = document.playlists ?? [];
  const all = document.programmes ?? [];
  const target = shown ?? 'all';
  const midnights = weekOf(clock.now() + offset.value * WEEK_MS, timeZone);
  const monday = wallTimeOf(midnights[0] ?? 0, timeZone).date;
  const week = { midnights, dates: Array.from({ length: 9 }, (_, day) => addDays(monday, day - 1)) };
  const subject = useMemo(() => subjectOf(document, target), [document, target]);
  const evaluation = useMemo(() => createEvaluation(document, subject, timeZone), [document, subject]);
  useEffect(() => {
    const named = all.find(({ id }) => id === wanted);
    selected.value = named === undefined ? null : { id: named.id, origin: (named.days?.[0] ?? 1) - 1 };
  }, [wanted, target]);
  useWanted(wanted, field, selected.value?.id);

  if (playlists.length === 0) {
    return (
      <Empty title={texts.editor.noPlaylists}>
        <p>{texts.editor.noPlaylistsTask}</p>
        <a class="button" href={hrefOf('content', 'playlists')}>
          {texts.contentPage.tab.playlists}
        </a>
      </Empty>
    );
  }
  const drawsWith = playlists.some(({ id }) => id === brush.value)
    ? (brush.value ?? '')
    : ((playlists.find(({ id }) => id !== subject.playlist_id) ?? playlists[0])?.id ?? '');
  const edit = (programmes: readonly ProgrammeDraft[], group?: string): void =>
    draft.edit(setList(document, 'programmes', [...programmes]), group);
  const index = all.findIndex(({ id }) => id === selected.value?.id);
  const programme = all[index];
  const row = selected.value?.origin ?? 0;

  const draw = (at: number, window: Window): void => {
    const next = added(all, { target, playlist_id: drawsWith, weekday: at + 1, window }, randomEnd());
    edit(next);
    selected.value = { id: next.at(-1)?.id ?? '', origin: at };
  };
  const change = (next: ProgrammeDraft, selection: Selection, group?: string): void => {
    edit(
      all.map((each) => (each.id === next.id ? tidied(next) : each)),
      group,
    );
    selected.value = selection;
    announcer.speak(
      words.moved({
        name: nameOf(next, document),
        from: timeOf0(next.start_time),
        until: timeOf0(next.end_time),
        day: format.weekday(selection.origin + 1),
      }),
    );
  };
  const remove = (id: string): void => {
    edit(all.filter((each) => each.id !== id));
    selected.value = null;
    announcer.say(texts.editor.removed, { label: texts.editor.bringBack, act: draft.takeBack() });
  };
  const momentOf = (at: { row: number; minutes: number }): number =>
    instantOf(week.dates[at.row + 1] ?? monday, timeOf(Math.min(at.minutes, 1_439)), timeZone);
  const moment = pointed.value ?? chosen.value ?? clock.now();
  const placeOf = (instant: number): { row: number; minutes: number } | null => {
    const at = midnights.findLastIndex((midnight) => midnight <= instant);
    return at < 0 || at > 6 ? null : { row: at, minutes: wallTimeOf(instant, timeZone).minutes };
  };

  return (
    <div class="programmes">
      <div class="row programme-tools">
        <label for={targetId}>{words.weekOf}</label>
        <select
          id={targetId}
          value={target}
          onChange={(event) => router.go('content', 'week', event.currentTarget.value)}
        >
          <TargetOptions document={document} />
        </select>
        <div class="buttons programme-turn">
          <IconButton icon="back" label={texts.week.previous} onClick={() => (offset.value -= 1)} />
          <button type="button" class="button small" disabled={offset.value === 0} onClick={() => (offset.value = 0)}>
            {texts.week.current}
          </button>
          <IconButton icon="forward" label={texts.week.next} onClick={() => (offset.value += 1)} />
        </div>
        <h2>{texts.week.of({ from: format.day(midnights[0] ?? 0), until: format.day((midnights[7] ?? 1) - 1) })}</h2>
      </div>
      <div class="row programme-tools">
        <fieldset class="chips programme-brushes">
          <legend class="unseen">{words.brush}</legend>
          {playlists.map(({ id, name }) => (
            <label key={id} class="chip" style={{ '--hue': hueOf(id, document) }}>
              <input type="radio" name="brush" checked={id === drawsWith} onChange={() => (brush.value = id)} />
              <span>
                <i class="programme-swatch" /> {name || id}
              </span>
            </label>
          ))}
        </fieldset>
        <button type="button" class="button small" onClick={() => draw(Math.min(placeOf(moment)?.row ?? 0, 6), NOON)}>
          <Icon name="plus" /> {words.add}
        </button>
      </div>
      <Why
        document={document}
        subject={subject}
        explained={evaluation.at(moment)}
        moment={moment}
        chosen={chosen.value === null ? '' : inputOf(chosen.value, timeZone)}
        onChoose={(value) => (chosen.value = instantOfInput(value, timeZone))}
      />
      <div class="programme-scroll">
        <Grid
          document={document}
          week={week}
          programmes={evaluation.programmes}
          isOwn={({ targets, id }) => id === '' || targets.includes(target)}
          stretchesWith={(shown) =>
            (shown.every((each, at) => each === all[at])
              ? evaluation
              : createEvaluation({ ...document, programmes: [...shown] }, subject, timeZone)
            ).stretches(midnights[0] ?? 0, 7)
          }
          selected={selected.value}
          onSelect={(selection) => (selected.value = selection)}
          onDraw={draw}
          onChange={change}
          onRemove={({ id }) => remove(id)}
          onCopyDay={(day) => (copied.value = day + 1)}
          onPoint={(place, isChosen) => {
            pointed.value = place === null || isChosen ? null : momentOf(place);
            if (place !== null && isChosen) chosen.value = momentOf(place);
          }}
          mark={placeOf(moment)}
        />
      </div>
      {programme !== undefined && (
        <ProgrammeForm
          document={document}
          programme={programme}
          index={index}
          date={week.dates[row + 1] ?? monday}
          weekday={((row + 7) % 7) + 1}
          onChange={(next, field) => edit(replaceAt(all, index, next), `programmes ${programme.id} ${field}`)}
          onSplit={() => {
            const next = daySplit(all, index, ((row + 7) % 7) + 1, randomEnd());
            edit(next);
            selected.value = { id: next[index + 1]?.id ?? programme.id, origin: row };
          }}
          onDate={() => edit(onDate(all, index, week.dates[row + 1] ?? monday))}
          onRemove={() => remove(programme.id)}
        />
      )}
      <p class="hint">
        {words.hint} {texts.plan.zone({ timeZone: format.zone })}
      </p>
      {copied.value !== null && (
        <CopyDay
          from={copied.value}
          onCopy={(to) => edit(dayCopied(all, target, copied.value ?? 1, to))}
          onClose={() => (copied.value = null)}
        />
      )}
    </div>
  );
};

const timeOf0 = (time: string | null | undefined): string => (time ?? '00:00').slice(0, 5);
