/** In which order a playlist plays: as listed or shuffled, and the slides of another one between its own. */
import type { ContentDocument, PlaylistDraft } from '../model/document.ts';
import { useConsole } from '../ui/context.tsx';
import { Fold } from '../ui/controls.tsx';
import { SelectField, TextField, usePlaylistOptions } from '../ui/inputs.tsx';

interface PlaylistOrderProps {
  document: ContentDocument;
  playlist: PlaylistDraft;
  /** Sets a field of the playlist; `undefined` removes it. */
  set(name: 'order' | 'insert', value: unknown): void;
}

/** As in the contract. */
const most = 1_000;

/** A whole number from 1; other input is not taken. */
const Count = (props: { label: string; value: number; onValue(value: number): void }) => (
  <TextField
    label={props.label}
    type="number"
    min={1}
    max={most}
    step={1}
    value={props.value}
    onInput={({ currentTarget: { valueAsNumber: value } }) => {
      if (Number.isInteger(value) && value >= 1 && value <= most) props.onValue(value);
    }}
    onBlur={({ currentTarget }) => (currentTarget.value = String(props.value))}
  />
);

export const PlaylistOrder = ({ document, playlist, set }: PlaylistOrderProps) => {
  const words = useConsole().texts.order;
  const { order, insert } = playlist;
  // A playlist that is inserted into itself would never end.
  const others = usePlaylistOptions((document.playlists ?? []).filter(({ id }) => id !== playlist.id));
  return (
    <Fold class="playlist-order" isWanted={order === 'shuffled' || insert != null}>
      <summary>{words.title}</summary>
      <div class="order-fields">
        <SelectField
          label={words.order}
          hint={words.orderHint}
          value={order ?? 'listed'}
          options={[
            ['listed', words.listed],
            ['shuffled', words.shuffled],
          ]}
          onValue={(value) => set('order', value === 'listed' ? undefined : value)}
        />
        <SelectField
          label={words.insert}
          value={insert?.playlist_id ?? ''}
          options={others}
          onValue={(value) =>
            set('insert', value === '' ? undefined : { every: 3, count: 1, ...insert, playlist_id: value })
          }
        />
        {insert != null && (
          <>
            <Count label={words.every} value={insert.every} onValue={(every) => set('insert', { ...insert, every })} />
            <Count label={words.count} value={insert.count} onValue={(count) => set('insert', { ...insert, count })} />
          </>
        )}
      </div>
    </Fold>
  );
};
