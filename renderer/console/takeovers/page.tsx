/** Composing a takeover: what, where and until when, with a preview and one confirmation. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { takeoverLevels } from '../../../service/contract/console/takeover-levels.ts';
import type { SlideFile } from '../../../service/contract/slides.ts';
import { withRenamedMedium } from '../../../service/domain/renamed-media.ts';
import { fillSlide } from '../../../service/domain/slides.ts';
import { screensOf } from '../../../service/domain/targets.ts';
import { displaysOf } from '../model/displays.ts';
import { freeId, setList } from '../model/edit.ts';
import { inputOf, instantOfInput } from '../model/local-time.ts';
import { payloadOf } from '../model/payload.ts';
import { slideOfTakeover } from '../model/shown.ts';
import type { Level, SiteScreen } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Confirm, Fault, Field } from '../ui/controls.tsx';
import { Chip, TextField } from '../ui/inputs.tsx';
import { MediaField } from '../ui/media-field.tsx';
import { PlayerFrame } from '../ui/player-frame.tsx';
import { focusOn } from '../ui/wanted.ts';
import { Messages } from './messages.tsx';
import { OpenTakeovers } from './open.tsx';
import { everywhere, Targets, targetsOf, type Where } from './targets.tsx';
import { Triggers } from './triggers.tsx';

export interface Composition extends Where {
  level: Level;
  title: string;
  body: string;
  /** `/media/NAME`, or an http(s) URL; empty: none. */
  mediaUrl: string;
  /** How long, in minutes; null: until {@link Composition.until}. */
  minutes: number | null;
  /** Wall-clock time of the site, `YYYY-MM-DDTHH:MM`. */
  until: string;
  /** It lasts until somebody ends it; of an emergency alone. */
  isUntilEnded: boolean;
  /** Wall-clock time of the site; empty: now. */
  from: string;
}

export const emptyComposition: Composition = {
  level: 'info',
  title: '',
  body: '',
  mediaUrl: '',
  ...everywhere,
  minutes: 30,
  until: '',
  isUntilEnded: false,
  from: '',
};

/** The field that keeps it from being sent; null: none. */
export const missingIn = (
  composition: Composition,
  until: number | null,
  now: number,
): 'title' | 'targets' | 'until' | null => {
  if (composition.title.trim() === '' && composition.mediaUrl === '') return 'title';
  if (targetsOf(composition).length === 0) return 'targets';
  return until === null || until <= now ? 'until' : null;
};

/** A unique id that contains the time. */
export const takeoverId = (now: number, random: number): string =>
  `${new Date(now).toISOString().slice(0, 16).replace(/[-:]/g, '').toLowerCase()}-${Math.floor(random * 36 ** 6)
    .toString(36)
    .padStart(6, '0')}`;

/** How many screens and displays the targets hit. */
export const reachOf = (
  screens: readonly SiteScreen[],
  targets: readonly string[],
): { screens: number; displays: number } => {
  const bySlug = new Map(screens.map((each) => [each.screen.slug, each]));
  const hit = screensOf(
    targets,
    screens.map(({ screen, tags }) => ({ slug: screen.slug, tags })),
  );
  return {
    screens: hit.length,
    displays: hit.reduce((sum, { slug }) => sum + displaysOf(bySlug.get(slug) as SiteScreen).length, 0),
  };
};

/** How long something lasts, in minutes; at least one. */
const minutesOf = ({ from, until }: { from: number; until: number | null }): number =>
  Math.max(1, Math.round(((until ?? from) - from) / 60_000));

/** From when until when, ms since the epoch. */
interface Span {
  from: number;
  /** Infinity: until it is ended. */
  until: number;
  /** When it starts, in words; null: now. */
  start: string | null;
}

/** Minutes. */
const lengths = [15, 30, 60, 240] as const;

export const TakeoverPage = () => {
  const { access, site, texts, format, client, announcer, timeZone, uploads, draft: openDraft } = useConsole();
  const words = texts.takeover;
  const composition = useSignal<Composition>({ ...emptyComposition, isAll: access.covers(['all'], []) });
  const fault = useSignal<{ field: string; text: string } | null>(null);
  const confirming = useSignal<Span | null>(null);
  const isSending = useSignal(false);
  /** Of what is composed, once it was sent: where the answer was lost, the box may have it. */
  const sentId = useRef<string | null>(null);
  const { level, title, body, mediaUrl, minutes, until, isUntilEnded, from } = composition.value;
  const lastsUntilEnded = isUntilEnded && level === 'emergency';
  const reach = useComputed(() => reachOf(site.screens(), targetsOf(composition.value))).value;

  const previewFault = useSignal<string | null>(null);
  const payload = payloadOf([
    fillSlide(
      'takeover',
      {
        ...slideOfTakeover({
          level,
          title: title || (body ? null : words.placeholder),
          body,
          media_url: mediaUrl || null,
        }),
        id: 'takeover-preview',
        content: { takeover: { id: 'preview', level } },
      } as SlideFile,
      0,
      [],
    ),
  ]);

  const change = (changed: Partial<Composition>): void => {
    composition.value = { ...composition.value, ...changed };
    sentId.current = null;
    fault.value = null;
  };
  useEffect(
    () =>
      uploads.renamed.subscribe((renamed) => {
        if (renamed === null) return;
        composition.value = withRenamedMedium(composition.peek(), renamed.from, renamed.to);
      }),
    [],
  );
  useEffect(() => {
    // On a phone it is far above the button.
    if (fault.value !== null) focusOn(undefined, fault.value.field);
  }, [fault.value]);
  const faultOf = (field: string): string | null => (fault.value?.field === field ? fault.value.text : null);

  const spanOf = (): { from: number; until: number | null } => {
    const start = Math.max(site.now(), from === '' ? 0 : (instantOfInput(from, timeZone) ?? 0));
    if (lastsUntilEnded) return { from: start, until: Number.POSITIVE_INFINITY };
    return { from: start, until: minutes === null ? instantOfInput(until, timeZone) : start + minutes * 60_000 };
  };

  const ask = (): void => {
    const span = spanOf();
    const missing = missingIn(composition.value, span.until, span.from);
    if (missing !== null) fault.value = { field: missing, text: words.missing[missing] };
    else if (span.until !== null) {
      const now = site.now();
      const start = span.from > now ? format.when(new Date(span.from).toISOString(), now) : null;
      confirming.value = { from: span.from, until: span.until, start };
    }
  };

  /** Keeps it as a message of the draft, for another time. */
  const keep = (): void => {
    const span = spanOf();
    const missing = missingIn({ ...composition.value, isAll: true }, span.until, span.from);
    if (missing !== null) {
      fault.value = { field: missing, text: words.missing[missing] };
      return;
    }
    const draft = openDraft();
    const document = draft.content.value;
    if (document === null) return;
    const messages = document.messages ?? [];
    const message = {
      id: freeId(
        title || 'message',
        messages.map(({ id }) => id),
      ),
      level,
      ...(title.trim() !== '' && { title: title.trim() }),
      ...(body.trim() !== '' && { body: body.trim() }),
      ...(mediaUrl !== '' && { media_url: mediaUrl }),
      minutes: lastsUntilEnded ? null : minutesOf(span),
    };
    draft.edit(setList(document, 'messages', [...messages, message]));
    announcer.say(words.keptMessage);
  };

  const chooseTime = (): void => {
    change({ minutes: null, isUntilEnded: false, until: until || inputOf(site.now() + 3_600_000, timeZone) });
  };

  const send = async ({ from: begin, until: end, start }: Span): Promise<void> => {
    isSending.value = true;
    sentId.current ??= takeoverId(site.now(), Math.random());
    try {
      await client.json(`/console/api/takeovers/${sentId.current}`, {
        method: 'PUT',
        body: {
          targets: targetsOf(composition.value),
          level,
          title: title.trim() || null,
          body: body.trim() || null,
          media_url: mediaUrl || null,
          ...(from !== '' && { from: new Date(begin).toISOString() }),
          until: end === Number.POSITIVE_INFINITY ? null : new Date(end).toISOString(),
        },
      });
      confirming.value = null;
      change({ title: '', body: '', mediaUrl: '' });
      await site.refresh();
      announcer.say(start === null ? words.sent : words.sentLater({ from: start }));
    } catch (error) {
      confirming.value = null;
      announcer.report(error);
    } finally {
      isSending.value = false;
    }
  };

  return (
    <>
      <div class="page-head">
        <h1>{words.title}</h1>
        <p class="soft">{words.about}</p>
      </div>
      <OpenTakeovers />
      <Messages />
      <form
        class="compose"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <div class="compose-fields">
          <fieldset class="field">
            <legend>{words.level}</legend>
            <div class="chips">
              {takeoverLevels.map((each) => (
                <Chip key={each} name="level" checked={level === each} onChange={() => change({ level: each })}>
                  {texts.level[each]}
                </Chip>
              ))}
            </div>
            <p class="hint">{words.levelHint[level]}</p>
          </fieldset>
          <TextField
            field="title"
            label={words.headline}
            fault={faultOf('title')}
            value={title}
            maxLength={500}
            autocomplete="off"
            onInput={(event) => change({ title: event.currentTarget.value })}
          />
          <Field label={words.text}>
            {(control) => (
              <textarea
                {...control}
                rows={3}
                value={body}
                maxLength={10_000}
                onInput={(event) => change({ body: event.currentTarget.value })}
              />
            )}
          </Field>
          <MediaField
            label={words.picture}
            value={mediaUrl}
            accepts={['image/', 'video/']}
            onChange={(value) => change({ mediaUrl: value })}
          />
          <Targets where={composition.value} fault={faultOf('targets')} onChange={change} />
          <fieldset class="field">
            <legend>{words.howLong}</legend>
            <div class="chips">
              {lengths.map((length) => (
                <Chip
                  key={length}
                  name="length"
                  checked={minutes === length && !lastsUntilEnded}
                  onChange={() => change({ minutes: length, isUntilEnded: false })}
                >
                  {format.duration(length * 60_000)}
                </Chip>
              ))}
              <Chip name="length" checked={minutes === null && !lastsUntilEnded} onChange={chooseTime}>
                {words.chosenTime}
              </Chip>
              {level === 'emergency' && (
                <Chip name="length" checked={lastsUntilEnded} onChange={() => change({ isUntilEnded: true })}>
                  {words.untilIEndIt}
                </Chip>
              )}
            </div>
            {minutes === null && !lastsUntilEnded && (
              <div data-field="until">
                <input
                  type="datetime-local"
                  aria-label={words.untilLabel({ timeZone: format.zone })}
                  value={until}
                  aria-invalid={faultOf('until') !== null}
                  aria-describedby="until-fault"
                  onInput={(event) => change({ until: event.currentTarget.value })}
                />
              </div>
            )}
            <Fault id="until-fault">{faultOf('until')}</Fault>
          </fieldset>
          <TextField
            label={words.startLabel({ timeZone: format.zone })}
            hint={words.startHint}
            type="datetime-local"
            value={from}
            onInput={(event) => change({ from: event.currentTarget.value })}
          />
        </div>
        <div class="compose-side">
          <PlayerFrame payload={payload} title={words.preview} fault={previewFault} />
          <p class="caution" role="status">
            {previewFault.value !== null && texts.preview.fault({ reason: previewFault.value })}
          </p>
          <div class="compose-send">
            <Button onClick={keep}>{words.keep}</Button>
            <Button type="submit" class="primary">
              {words.show({ count: reach.displays })}
            </Button>
          </div>
        </div>
      </form>
      <Triggers />
      {confirming.value !== null && (
        <Confirm
          title={confirming.value.start === null ? words.confirmTitle : words.confirmTitleLater}
          submit={words.show({ count: reach.displays })}
          onClose={() => (confirming.value = null)}
          isBusy={isSending.value}
          onSubmit={() => confirming.value !== null && !isSending.value && void send(confirming.value)}
        >
          {confirming.value.start !== null && <p>{words.sentLater({ from: confirming.value.start })}</p>}
          <p>
            {(level === 'emergency' ? words.confirmEmergency : words.confirm)({
              displays: words.onDisplays({ count: reach.displays }),
              screens: words.ofScreens({ count: reach.screens }),
              until:
                confirming.value.until === Number.POSITIVE_INFINITY
                  ? words.whenUntilEnded
                  : format.when(new Date(confirming.value.until).toISOString(), site.now()),
            })}
          </p>
        </Confirm>
      )}
    </>
  );
};
