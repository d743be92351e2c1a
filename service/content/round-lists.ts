/** The playlists of a file as far as they determine rounds and zones. */
import type { ContentFile } from '../contract/content.ts';
import { type ZoneName, zoneNames } from '../contract/programmes.ts';
import type { SlideFile } from '../contract/slides.ts';
import type { RoundList, RoundLists } from '../domain/rounds.ts';

export type PlaylistFile = ContentFile['playlists'][number];
type Item = PlaylistFile['slides'][number];

/** Whether a slide of the file stands for a whole playlist. */
export const isNested = (item: Item): item is Extract<Item, { kind: 'playlist' }> => item.kind === 'playlist';

/** Whether a screen that plays this playlist alone plays it as it is listed. */
export const isPlain = ({ order, insert, slides }: PlaylistFile): boolean =>
  order !== 'shuffled' && insert == null && !slides.some(isNested);

/** @param slideOf what a slide is in the lists; `index` is its place in the file */
export const roundListsOf = <One>(
  playlists: readonly PlaylistFile[],
  slideOf: (playlist: PlaylistFile, slide: SlideFile, index: number) => One,
): RoundLists<One> =>
  new Map(
    playlists.map((playlist): [string, RoundList<One>] => [
      playlist.id,
      {
        id: playlist.id,
        order: playlist.order ?? 'listed',
        insert: playlist.insert ?? null,
        items: playlist.slides.map((item, index) =>
          isNested(item) ? { playlist_id: item.playlist_id } : { slide: slideOf(playlist, item, index) },
        ),
      },
    ]),
  );

/** The playlists of the zones of a screen, in the order of the payload. */
export const zonesOf = ({ layout, zones }: ContentFile['screens'][number]): { zone: ZoneName; playlistId: string }[] =>
  zoneNames.flatMap((zone) => {
    const playlistId = layout?.split('-').includes(zone) === true ? zones?.[zone] : null;
    return playlistId == null ? [] : [{ zone, playlistId }];
  });
