/** What every part of the console has at hand. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Client } from '../api/client.ts';
import type { BoxClock } from '../api/clock.ts';
import type { Session } from '../api/session.ts';
import type { Access } from '../stores/access.ts';
import type { Announcer } from '../stores/announcer.ts';
import type { AuditStore } from '../stores/audit.ts';
import type { Designs } from '../stores/designs.ts';
import type { Documents } from '../stores/documents.ts';
import type { Draft } from '../stores/draft.ts';
import type { MediaStore } from '../stores/media.ts';
import type { OpeningTimes } from '../stores/opening-times.ts';
import type { Pictures } from '../stores/pictures.ts';
import type { Router } from '../stores/router.ts';
import type { SavedDrafts } from '../stores/saved-drafts.ts';
import type { SiteStore } from '../stores/site.ts';
import type { Uploads } from '../stores/uploads.ts';
import type { ConsoleTexts } from '../texts/box.ts';
import type { Format } from '../texts/format.ts';

export interface Console {
  client: Client;
  session: Session;
  access: Access;
  clock: BoxClock;
  site: SiteStore;
  documents: Documents;
  /** Opened by the first page that edits; it is checked by the box from then on. */
  draft(): Draft;
  /** The drafts on the box; this tab saves its own there from then on. */
  savedDrafts(): SavedDrafts;
  audit: AuditStore;
  designs: Designs;
  pictures: Pictures;
  media: MediaStore;
  uploads: Uploads;
  hours: OpeningTimes;
  router: Router;
  texts: ConsoleTexts;
  format: Format;
  announcer: Announcer;
  /** IANA time zone of the site. */
  timeZone: string;
  /** The address of the console over https; null: the box does not answer there. */
  secureUrl: string | null;
  /** The address of the console over http. */
  plainUrl: string | null;
  /** Whether people can sign in with the provider of the house. */
  hasSignOn: boolean;
}

export const ConsoleContext = createContext<Console | null>(null);

export const useConsole = (): Console => {
  const found = useContext(ConsoleContext);
  if (found === null) throw new Error('outside of the console');
  return found;
};
