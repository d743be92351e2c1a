/** The layout of a screen: which zones it has, what plays in them, and how that looks. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { ZoneName } from '../../../service/contract/programmes.ts';
import type { ContentDocument, ScreenDraft } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { screenPayload, zonesIn } from '../model/payload.ts';
import { useConsole } from '../ui/context.tsx';
import { Chip, SelectField, usePlaylistOptions } from '../ui/inputs.tsx';
import { PlayerFrame } from '../ui/player-frame.tsx';
import { useLiveData } from './preview.tsx';

export const layouts = ['full', 'ticker', 'sidebar', 'sidebar-ticker'] as const;
const shapes = ['landscape', 'portrait', 'strip'] as const;
type Shape = (typeof shapes)[number];

export interface LayoutEditorProps {
  document: ContentDocument;
  screen: ScreenDraft;
  onChange(screen: ScreenDraft, group: string): void;
}

/** A drawing of a layout, as a display of the shape has it. */
const Drawing = ({ layout, shape }: { layout: string; shape: Shape }) => {
  const [width, height] = { landscape: [48, 27], portrait: [27, 48], strip: [64, 12] }[shape] as [number, number];
  const zones = zonesIn[layout] ?? [];
  const ticker = zones.includes('ticker') && shape !== 'strip' ? Math.max(4, height / 9) : 0;
  const isBelow = shape === 'portrait';
  const part = { landscape: 4, portrait: 4, strip: 5 }[shape];
  const side = zones.includes('sidebar') ? (isBelow ? height : width) / part : 0;
  return (
    <svg
      class="layout-drawing"
      viewBox={`-1 -1 ${width + 2} ${height + 2}`}
      width={width + 2}
      height={height + 2}
      aria-hidden="true"
    >
      <rect class="layout-main" width={width} height={height} />
      {side > 0 &&
        (isBelow ? (
          <rect class="layout-side" y={height - ticker - side} width={width} height={side} />
        ) : (
          <rect class="layout-side" x={width - side} width={side} height={height - ticker} />
        ))}
      {ticker > 0 && <rect class="layout-ticker" y={height - ticker} width={width} height={ticker} />}
    </svg>
  );
};

export const LayoutEditor = ({ document, screen, onChange }: LayoutEditorProps) => {
  const { texts } = useConsole();
  const words = texts.layout;
  const id = useId();
  const playlists = usePlaylistOptions(document.playlists ?? []);
  const shape = useSignal<Shape>('landscape');
  const fault = useSignal<string | null>(null);
  const live = useLiveData(document, [screen.playlist_id, screen.zones?.ticker, screen.zones?.sidebar]);
  const layout = screen.layout ?? 'full';
  const zones = zonesIn[layout] ?? [];
  const choose = (next: string): void => {
    const others = (document.playlists ?? []).filter((each) => each.id !== screen.playlist_id);
    const set = { ...screen.zones };
    // A zone without a playlist is none.
    for (const zone of zonesIn[next] ?? []) set[zone] ??= others[0]?.id ?? null;
    const chosen = setField(screen, 'layout', next === 'full' ? undefined : next);
    onChange(next === 'full' ? chosen : setField(chosen, 'zones', set), 'layout');
  };
  const fill = (zone: ZoneName, playlist: string): void =>
    onChange(setField(screen, 'zones', { ...screen.zones, [zone]: playlist || null }), `zone ${zone}`);
  return (
    <div class="layout-editor">
      <div class="stack">
        <fieldset class="layouts">
          <legend class="unseen">{words.title}</legend>
          {layouts.map((each) => (
            <label key={each} class="layout-choice">
              <input type="radio" name={`${id}layout`} checked={each === layout} onChange={() => choose(each)} />
              <span>
                <Drawing layout={each} shape={shape.value} />
                {words.layout[each]}
              </span>
            </label>
          ))}
        </fieldset>
        {zones.map((zone) => (
          <SelectField
            key={zone}
            label={words.zone[zone]}
            hint={words.about[zone]}
            value={screen.zones?.[zone] ?? ''}
            options={playlists}
            onValue={(value) => fill(zone, value)}
          />
        ))}
        {zones.includes('ticker') && shape.value === 'strip' && <p class="hint">{words.strip}</p>}
      </div>
      <section class="stack" aria-label={texts.preview.title}>
        <fieldset class="chips">
          <legend class="unseen">{texts.preview.shape}</legend>
          {shapes.map((each) => (
            <Chip key={each} name={`${id}shape`} checked={shape.value === each} onChange={() => (shape.value = each)}>
              {each === 'strip' ? words.shapeStrip : texts.preview[each]}
            </Chip>
          ))}
        </fieldset>
        <PlayerFrame
          payload={screenPayload(document, screen, live)}
          title={texts.preview.title}
          shape={shape.value}
          fault={fault}
        />
        <p class="caution" role="status">
          {fault.value !== null && texts.preview.fault({ reason: fault.value })}
        </p>
      </section>
    </div>
  );
};
