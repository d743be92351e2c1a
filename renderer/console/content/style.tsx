/** The house style: logo, fonts, colours and corners, beside the real player on displays of all sizes. */
import { useSignal } from '@preact/signals';
import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { type ContentDocument, issuesAt, type StyleDraft } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { fillDraft, payloadOf } from '../model/payload.ts';
import type { Field } from '../model/schema.ts';
import { useConsole } from '../ui/context.tsx';
import { Chip } from '../ui/inputs.tsx';
import { PlayerFrame, shapes } from '../ui/player-frame.tsx';
import { useWanted } from '../ui/wanted.ts';
import { FormField } from './field.tsx';

const samples = ['words', 'times', 'notice', 'idle'] as const;
type Sample = (typeof samples)[number];

const colours = ['background', 'text', 'accent'] as const;
const fonts = ['display', 'text'] as const;

const field = (name: string, type: Field['type'], more: Partial<Field> = {}): Field => ({
  name,
  type,
  isRequired: false,
  options: [],
  ...more,
});

const sampleTimes = ['08:30', '10:00', '12:15', '14:00', '17:30', '20:00'];

/** What the samples show, in the language of the console. */
const usePayload = (sample: Sample, style: StyleDraft): PlaylistPayload => {
  const { texts } = useConsole();
  const words = texts.style;
  const fill = (slide: Parameters<typeof fillDraft>[1]): Slide => fillDraft('style', { id: 'style', ...slide }, 0);
  const slides: Record<Sample, Slide[]> = {
    words: [fill({ kind: 'text', title: words.sampleTitle, body: words.sampleBody })],
    times: [fill({ kind: 'timetable', title: words.sampleTimes, content: { group_id: 'style' } })],
    notice: [
      fill({
        kind: 'text',
        title: words.sampleNotice,
        body: words.sampleBody,
        content: { takeover: { id: 'style', level: 'info' } },
      }),
    ],
    idle: [],
  };
  const titles = Object.values(words.sampleEntries);
  const entries = sampleTimes.map((time, index) => ({
    id: time,
    time,
    title: titles[index] ?? '',
    detail: null,
    location: null,
    days_json: null,
  }));
  return {
    ...payloadOf(slides[sample]),
    timetableGroups: [{ id: 'style', name: words.sampleTimes, entries }],
    style,
  };
};

const Samples = ({ style }: { style: StyleDraft }) => {
  const { texts } = useConsole();
  const words = texts.style;
  const sample = useSignal<Sample>('words');
  const fault = useSignal<string | null>(null);
  const payload = usePayload(sample.value, style);
  return (
    <section class="stack" aria-label={texts.preview.title}>
      <fieldset class="chips">
        <legend class="unseen">{words.sample}</legend>
        {samples.map((each) => (
          <Chip key={each} name="style-sample" checked={sample.value === each} onChange={() => (sample.value = each)}>
            {words.samples[each]}
          </Chip>
        ))}
      </fieldset>
      <div class="style-previews">
        {shapes.map((shape) => (
          <PlayerFrame
            key={shape}
            payload={payload}
            title={`${texts.preview.title}: ${shape}`}
            shape={shape}
            fault={fault}
          />
        ))}
      </div>
    </section>
  );
};

export const StyleTab = ({ document, field: wanted }: { document: ContentDocument; field: string | undefined }) => {
  const { draft: openDraft, texts } = useConsole();
  const draft = openDraft();
  const words = texts.style;
  const style = document.style ?? {};
  useWanted(undefined, wanted);
  const at = (path: string) => ({
    errors: issuesAt(draft.check.value?.errors ?? [], `style.${path}`),
    warnings: issuesAt(draft.check.value?.warnings ?? [], `style.${path}`),
  });
  const save = (next: StyleDraft, group: string): void =>
    draft.edit(setField(document, 'style', Object.keys(next).length === 0 ? undefined : next), `style ${group}`);
  const saveIn = (part: 'fonts' | 'colours', name: string, value: unknown): void => {
    const next = setField<object>(style[part] ?? {}, name, value);
    save(setField(style, part, Object.keys(next).length === 0 ? undefined : next), `${part} ${name}`);
  };
  return (
    <div class="layout-editor">
      <div class="stack">
        <p class="soft">{words.about}</p>
        <FormField
          field={field('logo_url', 'media')}
          label={words.logo}
          value={style.logo_url}
          issues={at('logo_url')}
          accepts={['image/']}
          onChange={(value) => save(setField(style, 'logo_url', value), 'logo')}
        />
        {fonts.map((name) => (
          <FormField
            key={name}
            field={field(`fonts.${name}`, 'media')}
            label={words.font[name]}
            value={style.fonts?.[name]}
            issues={at(`fonts.${name}`)}
            accepts={['font/']}
            onChange={(value) => saveIn('fonts', name, value)}
          />
        ))}
        {colours.map((name) => (
          <FormField
            key={name}
            field={field(`colours.${name}`, 'colour')}
            label={words.colour[name]}
            value={style.colours?.[name]}
            issues={at(`colours.${name}`)}
            onChange={(value) => saveIn('colours', name, value)}
          />
        ))}
        <FormField
          field={field('corner', 'number', { min: 0, max: 64 })}
          label={words.corner}
          value={style.corner}
          issues={at('corner')}
          onChange={(value) => save(setField(style, 'corner', value), 'corner')}
        />
      </div>
      <Samples style={style} />
    </div>
  );
};
