import { languages as boxLanguages } from 'virtual:texts/box/lazy';
import { languages, type Texts } from 'virtual:texts/console/lazy';
import { effect } from '@preact/signals';
import { render } from 'preact';
import type { ConsoleBoot } from '../../service/contract/page.ts';
import { readHandover, readInvitation } from '../../service/domain/joining.ts';
import { readBoot, requireTopLevel } from '../shared/boot.ts';
import { choose, inRegion } from '../shared/language.ts';
import { storageOf } from '../shared/storage.ts';
import { createTexts } from '../texts/messages.ts';
import { createClient } from './api/client.ts';
import { createBoxClock } from './api/clock.ts';
import { createSession, isOtherPerson, takeHandover } from './api/session.ts';
import { App } from './app.tsx';
import { followFile } from './model/edit.ts';
import { createAccess } from './stores/access.ts';
import { createAnnouncer } from './stores/announcer.ts';
import { createAuditStore } from './stores/audit.ts';
import { createDesigns } from './stores/designs.ts';
import { createDocuments } from './stores/documents.ts';
import { createDraft, type Draft } from './stores/draft.ts';
import { claim, forgetLeft, leave, takeBackLeft, takeLeft } from './stores/left.ts';
import { createMediaStore } from './stores/media.ts';
import { createOpeningTimes } from './stores/opening-times.ts';
import { createPictures } from './stores/pictures.ts';
import { createRouter } from './stores/router.ts';
import { createSavedDrafts, type SavedDrafts } from './stores/saved-drafts.ts';
import { createSiteStore } from './stores/site.ts';
import { createUploads, isActive } from './stores/uploads.ts';
import { type ConsoleTexts, createBoxTexts } from './texts/box.ts';
import { createFormat } from './texts/format.ts';
import { boundTexts } from './ui/bounded.ts';
import { ConsoleContext } from './ui/context.tsx';

requireTopLevel();
boundTexts();

const { timeZone, hasSecret, hasSignOn, secureUrl, plainUrl } = readBoot<ConsoleBoot>(document);
const tag = choose(Object.keys(languages), navigator.languages);
const sectionIn = async (of: typeof languages, wanted: string) => (await of[wanted]?.())?.section;
const texts: ConsoleTexts = {
  ...createTexts<Texts>(await sectionIn(languages, tag), tag),
  ofBox:
    tag === 'en'
      ? (sentence) => sentence
      : createBoxTexts(await sectionIn(boxLanguages, 'en'), await sectionIn(boxLanguages, tag)),
};
document.documentElement.lang = tag;

const key = hasSecret ? await (await import('./api/person-key.ts')).readPersonKey() : null;
const given = hasSecret ? (readInvitation(location.hash) ?? readHandover(location.hash)) : null;
const isForeign = given !== null && 'step' in given && given.step === 'add' && !takeHandover();
const invited = isForeign ? null : given;
// The code is in no history.
if (given !== null) history.replaceState(null, '', location.pathname);
const [tab, lasting] = [storageOf('sessionStorage'), storageOf('localStorage')];
const session = createSession(hasSecret, { tab, lasting }, { key, invited });
// A link that is opened where the page is already: before the router takes it for the name of a page.
addEventListener('hashchange', (event) => {
  const opened = hasSecret ? readInvitation(location.hash) : null;
  if (opened === null) return;
  event.stopImmediatePropagation();
  history.replaceState(null, '', event.oldURL);
  session.invite(opened);
});
const clock = createBoxClock();
const client = createClient({ session, clock });
const access = createAccess(client, session, document);
const site = createSiteStore(client, clock, document);
const documents = createDocuments(client, site, access);
const designs = createDesigns(client);
const announcer = createAnnouncer(texts);
if (isForeign) announcer.complain(texts.handover.notBegun);
const openDraft = (): Draft =>
  createDraft({
    client,
    documents,
    signer: session.signer,
    storage: tab,
    page: window,
    texts,
    onReplaced: () => announcer.complain(texts.publish.replaced),
  });
let opened: { draft: Draft; savedDrafts: SavedDrafts } | undefined;
const drafts = () => {
  if (opened !== undefined) return opened;
  takeLeft(tab, lasting, session.signer.peek() ?? '', Date.now());
  const draft = openDraft();
  const savedDrafts = createSavedDrafts({
    client,
    draft,
    documents,
    operator: session.operator,
    storage: tab,
    page: window,
    onLeft: () => leave(tab, lasting, Date.now()),
    isSelf: ({ id, name }) => {
      const { person } = access.me.peek();
      return person === null ? id === null && name === session.operator.peek() : id === person.id;
    },
    onMerged: (name) => announcer.say(texts.drafts.merged({ name: name ?? texts.history.unnamed })),
  });
  opened = { draft, savedDrafts };
  return opened;
};
// A page that comes back was not closed.
addEventListener('pageshow', ({ persisted }) => persisted && takeBackLeft(tab, lasting));
const holdUploads = (event: BeforeUnloadEvent): void => {
  if (uploads.list.peek().some(isActive)) event.preventDefault();
};
addEventListener('beforeunload', holdUploads);
let lastSigner: string | null = null;
let lastCredential = session.credential.peek();
effect(() => {
  const signer = session.signer.value;
  if (signer === null && lastSigner !== null) forgetLeft(tab, lasting, lastSigner);
  const wasRefused = session.wasRefused.peek() || session.removed.peek() !== null;
  const isOut = signer === null && lastSigner !== null && lastCredential !== null && !wasRefused;
  const isOther = isOtherPerson(lastSigner, signer);
  // The steps of a handover and of a sign-in begin with a key whose person is not known yet.
  const isEmpty = opened === undefined && lastSigner?.startsWith('key ') === true;
  lastSigner = signer ?? lastSigner;
  if (signer !== null) lastCredential = session.credential.peek();
  if (isOut || (isOther && !isEmpty)) {
    // Else the draft would be deleted, in the name of who has come.
    opened?.savedDrafts.forget();
    opened?.draft.discard();
    removeEventListener('beforeunload', holdUploads);
    location.reload();
  } else if (signer !== null && opened !== undefined) claim(tab, signer);
});
const media = createMediaStore(client);
const router = createRouter(window);
const uploads = createUploads({ client, media, page: document, wakeLock: navigator.wakeLock });
uploads.renamed.subscribe((renamed) => {
  if (renamed === null) return;
  const { from, to } = renamed;
  announcer.say(texts.media.nameTaken({ name: from, to }));
  const draft = opened?.draft;
  const [document, start] = [draft?.content.peek(), draft?.start()];
  if (document != null && start != null) draft?.take(followFile(document, start, from, to));
});
const ZONE = 'signage.zone';
effect(() => {
  // With each answer.
  void site.lastSeen.value;
  const answering = site.overview.value?.timeZone;
  // Once in a tab, which must be able to note it: behind one name may be boxes with several.
  const canReload = tab instanceof Storage && tab.getItem(ZONE) === null;
  if (answering === undefined || answering === timeZone || !canReload) return;
  const isUploading = uploads.list.value.some((each) => isActive(each) || each.state === 'failed');
  if (isUploading || opened?.draft.isDirty.value === true || document.querySelector('dialog[open]') !== null) return;
  tab.setItem(ZONE, answering);
  location.reload();
});
// Dates as the person's region writes the language.
const format = createFormat(inRegion(tag, navigator.languages), timeZone);

render(
  <ConsoleContext.Provider
    value={{
      client,
      session,
      access,
      clock,
      site,
      documents,
      designs,
      draft: () => drafts().draft,
      savedDrafts: () => drafts().savedDrafts,
      hours: createOpeningTimes({ documents, clock, format, timeZone }),
      audit: createAuditStore(client, site, access),
      pictures: createPictures(client),
      media,
      uploads,
      router,
      texts,
      format,
      announcer,
      timeZone,
      secureUrl,
      plainUrl,
      hasSignOn,
    }}
  >
    <App />
  </ConsoleContext.Provider>,
  document.getElementById('console') as HTMLElement,
);
site.start();
