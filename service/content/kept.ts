/** The content that is on the disk: the newest document, and the payloads that it was shown as. */

import type { Logger } from 'pino';
import type { ContentDocument } from '../contract/peers.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { Durable } from '../platform/store/durable.ts';
import { type LastKnownGood, packScreens } from './last-known-good.ts';
import type { ScreenDocument } from './model.ts';

interface Dependencies {
  lastKnownGood: Pick<Durable<LastKnownGood>, 'read' | 'update'>;
  log: Logger;
}

export const createKept = ({ lastKnownGood, log }: Dependencies) => {
  const changes = createEmitter();
  return {
    /** The newest document that is on the disk; null: there never was one. */
    document: (): ContentDocument | null => {
      const { document, stamps } = lastKnownGood.read();
      return document === null ? null : { ...document, stamps };
    },
    isStored: ({ sha256 }: ContentDocument): boolean => lastKnownGood.read().document?.sha256 === sha256,
    /** Stores a document with its payloads; a failure is logged. Never rejects. */
    store: async (
      { stamps, ...document }: ContentDocument,
      screenDocuments: ReadonlyMap<string, ScreenDocument>,
    ): Promise<void> => {
      try {
        const screens = packScreens(screenDocuments);
        await lastKnownGood.update(() => ({ programmes: null, screens, stamps, document }));
      } catch (error) {
        log.error(
          { err: error },
          'the last good content could not be stored; after a restart the box depends on content.json',
        );
        return;
      }
      changes.emit();
    },
    /** Calls `listener` when {@link document} changes. */
    onDocument: changes.on,
  };
};
