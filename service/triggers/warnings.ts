/** What the content lacks that triggers name. Pure. */
import type { TriggerRecord } from '../contract/console/triggers.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { effectOf } from './records.ts';

/** What a content has. */
export interface Named {
  message(id: string): unknown;
  hasPlaylist(id: string): boolean;
}

/** One warning per trigger that names a message or playlist which the content does not have. */
export const warningsOf = (triggers: readonly TriggerRecord[], content: Named): ContentIssue[] =>
  triggers.flatMap((trigger): ContentIssue[] => {
    const { takeover, end, playlist } = effectOf(trigger) ?? {};
    const message = (takeover ?? end)?.message_id;
    const who = `${JSON.stringify(trigger.name)}: the trigger names`;
    const what = JSON.stringify(message ?? playlist?.playlist_id);
    if (message !== undefined && content.message(message) === undefined)
      return [{ path: 'messages', message: `${who} the message ${what}, which the content does not have` }];
    if (playlist !== undefined && !content.hasPlaylist(playlist.playlist_id))
      return [{ path: 'playlists', message: `${who} the playlist ${what}, which the content does not have` }];
    return [];
  });
