/** Composing a takeover: what, where and until when, with a preview and one confirmation. */
import { useComputed, useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { takeoverLevels } from '../../../service/contract/console/takeover-levels.ts';
import type { SlideFile } from '../../../service/contract/slides.ts';
import { fillSlide } from '../../../service/domain/slides.ts';
import { payloadOf } from '../model/payload.ts';
import { slideOfTakeover } from '../model/shown.ts';
import { reachOf } from '../model/targets.ts';
import { reasonOf } from '../texts/reason.ts';
import { useConsole } from '../ui/context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { MediaField } from '../ui/media-field.tsx';
import { PlayerFrame } from '../ui/player-frame.tsx';
import { OpenTakeovers } from './open-list.tsx';
import { type Composition, emptyComposition, missingIn, takeoverId, targetsOf } from './request.ts';
import { Targets } from './targets.tsx';

/** Minutes. */
const lengths = [15, 30, 60, 240] as const;

export const TakeoverPage = () => {
  const { site, texts, format, clock, client, announcer, timeZone } = useConsole();
  const words = texts.takeover;
  const composition = useSignal<Composition>(emptyComposition);
  const fault = useSignal<{ field: string; text: string } | null>(null);
  const confirming = useSignal<{ until: number } | null>(null);
  const isSending = useSignal(false);
  const [titleId, bodyId, untilId] = [useId(), useId(), useId()];
  const { level, title, body, mediaUrl, minutes, until } = composition.value;
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
    fault.value = null;
  };
  const faultOf = (field: string): string | null => (fault.value?.field === field ? fault.value.text : null);

  const endOf = async (): Promise<number | null> => {
    if (minutes !== null) return clock.now() + minutes * 60_000;
    const { instantOfInput } = await import('../model/local-time.ts');
    return instantOfInput(until, timeZone);
  };

  const ask = async (): Promise<void> => {
    const end = await endOf();
    const missing = missingIn(composition.value, end, clock.now());
    if (missing !== null) fault.value = { field: missing, text: words.missing[missing] };
    else if (end !== null) confirming.value = { until: end };
  };

  const chooseTime = async (): Promise<void> => {
    const { inputOf } = await import('../model/local-time.ts');
    change({ minutes: null, until: until || inputOf(clock.now() + 3_600_000, timeZone) });
  };

  const send = async (end: number): Promise<void> => {
    isSending.value = true;
    try {
      await client.json(`/console/api/takeovers/${takeoverId(clock.now(), Math.random())}`, {
        method: 'PUT',
        body: {
          targets: targetsOf(composition.value),
          level,
          title: title.trim() || null,
          body: body.trim() || null,
          media_url: mediaUrl || null,
          until: new Date(end).toISOString(),
        },
      });
      confirming.value = null;
      change({ title: '', body: '', mediaUrl: '' });
      await site.refresh();
      announcer.say(words.sent);
    } catch (error) {
      confirming.value = null;
      announcer.complain(reasonOf(error, texts));
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
      <form
        class="compose"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <div class="compose-fields">
          <fieldset class="field">
            <legend>{words.level}</legend>
            <div class="chips">
              {takeoverLevels.map((each) => (
                <label key={each} class={`chip level-chip ${each}`}>
                  <input type="radio" name="level" checked={level === each} onChange={() => change({ level: each })} />
                  <span>{texts.level[each]}</span>
                </label>
              ))}
            </div>
            <p class="hint">{words.levelHint[level]}</p>
          </fieldset>
          <div class="field">
            <label for={titleId}>{words.headline}</label>
            <input
              id={titleId}
              value={title}
              maxLength={500}
              autocomplete="off"
              aria-invalid={faultOf('title') !== null}
              aria-describedby={`${titleId}-fault`}
              onInput={(event) => change({ title: event.currentTarget.value })}
            />
            <p class="fault" id={`${titleId}-fault`} role="alert">
              {faultOf('title')}
            </p>
          </div>
          <div class="field">
            <label for={bodyId}>{words.text}</label>
            <textarea
              id={bodyId}
              rows={3}
              value={body}
              maxLength={10_000}
              onInput={(event) => change({ body: event.currentTarget.value })}
            />
          </div>
          <MediaField
            label={words.picture}
            value={mediaUrl}
            accepts={['image/', 'video/']}
            onChange={(value) => change({ mediaUrl: value })}
          />
          <Targets composition={composition.value} fault={faultOf('targets')} onChange={change} />
          <fieldset class="field">
            <legend>{words.howLong}</legend>
            <div class="chips">
              {lengths.map((length) => (
                <label key={length} class="chip">
                  <input
                    type="radio"
                    name="length"
                    checked={minutes === length}
                    onChange={() => change({ minutes: length })}
                  />
                  <span>{format.duration(length * 60_000)}</span>
                </label>
              ))}
              <label class="chip">
                <input type="radio" name="length" checked={minutes === null} onChange={() => void chooseTime()} />
                <span>{words.chosenTime}</span>
              </label>
            </div>
            {minutes === null && (
              <input
                id={untilId}
                type="datetime-local"
                aria-label={words.untilLabel({ timeZone: format.zone })}
                value={until}
                aria-invalid={faultOf('until') !== null}
                onInput={(event) => change({ until: event.currentTarget.value })}
              />
            )}
            <p class="fault" role="alert">
              {faultOf('until')}
            </p>
          </fieldset>
        </div>
        <div class="compose-side">
          <PlayerFrame payload={payload} title={words.preview} fault={previewFault} />
          <p class="caution" role="status">
            {previewFault.value !== null && texts.preview.fault({ reason: previewFault.value })}
          </p>
          <div class="compose-send">
            <button type="submit" class="button primary">
              {words.show({ count: reach.displays })}
            </button>
          </div>
        </div>
      </form>
      {confirming.value !== null && (
        <Dialog title={words.confirmTitle} onClose={() => (confirming.value = null)}>
          <div class="stack">
            <p>
              {(level === 'emergency' ? words.confirmEmergency : words.confirm)({
                displays: words.onDisplays({ count: reach.displays }),
                screens: words.ofScreens({ count: reach.screens }),
                until: format.when(new Date(confirming.value.until).toISOString(), clock.now()),
              })}
            </p>
            <div class="buttons end">
              <button type="button" class="button" onClick={() => (confirming.value = null)}>
                {texts.cancel}
              </button>
              <button
                type="button"
                class="button primary"
                aria-disabled={isSending.value}
                onClick={() => confirming.value !== null && !isSending.value && void send(confirming.value.until)}
              >
                {words.show({ count: reach.displays })}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
};
