import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { make } from '../../shared/elements.ts';
import { since } from './age.ts';
import { fontsLoaded, largestFit, overflows, watchFit } from './fit.ts';
import { hyphenate } from './hyphenation.ts';
import { createPages, nextTo, spread, withPages } from './pages.ts';
import { lookOf, paint } from './palette.ts';
import { createView, type SlideContext, type SlideFactory } from './slide.ts';

type Feed = PlaylistPayload['rssFeeds'][number];
type Item = Feed['items'][number];

const DEFAULT_ITEMS = 5;
/** How long a headline is on if the slide has no duration, and how long it takes to read one. */
const PAGE_TIME = { usualMs: 8_000, leastMs: 3_000 };
/** A picture that takes longer to load is left out. */
const PICTURE_MS = 5_000;
/** CSS pixels of the shorter side: smaller pictures are icons, and blurred when enlarged. */
const SMALLEST_PICTURE = 160;
const TURN_MS = 500;
/** More pages than this are counted, not drawn as marks. */
const MOST_MARKS = 12;

/** Type sizes at t = 1 and at t = 0, in hundredths of the screen's smaller side. */
const HEADLINE = [12, 3.4] as const;
const SUMMARY = [4.4, 2.7] as const;

const feedOf = ({ content }: Slide, { rssFeeds = [] }: PlaylistPayload): Feed => {
  const feed = rssFeeds.find(({ id }) => id === content?.['feed_id']);
  if (feed === undefined) throw new Error(`there is no feed ${String(content?.['feed_id'])}`);
  if (feed.items.length > 0) return feed;
  throw new Error(`the feed ${feed.id} ${feed.status === 'ok' ? 'is empty' : 'has not been fetched yet'}`);
};

/** One story: headline, summary, and its picture if it was loaded in time. */
const createStory = (item: Item, { media }: Pick<SlideContext, 'media'>) => {
  const story = make('article', 'story');
  const words = make('div', 'words');
  const headline = make('h1', 'headline', item.title ?? item.summary);
  const summary = make('p', 'summary', item.title === null || item.title === item.summary ? '' : item.summary);
  for (const part of [headline, summary]) part.dir = 'auto';
  words.append(...[headline, summary].filter((part) => part.textContent !== ''));
  story.append(words);

  const fits = (t: number): boolean => {
    const size = ([largest, smallest]: readonly [number, number]) => largest * (smallest / largest) ** (1 - t);
    words.style.setProperty('--headline', String(size(HEADLINE)));
    words.style.setProperty('--summary', String(size(SUMMARY)));
    return !overflows(words);
  };
  const refit = (): void => {
    words.classList.remove('terse', 'broken');
    if (fits(largestFit(fits))) return;
    // The headline alone is better than both too small, and a hyphenated word better than a clipped one.
    for (const name of ['terse', 'broken']) {
      words.classList.add(name);
      if (fits(largestFit(fits))) return;
    }
  };

  /** Resolves when the picture is in place or has failed. It is not inserted once the story is shown. */
  const illustrate = async (): Promise<void> => {
    if (item.image_url === null) return;
    const picture = new Image();
    picture.className = 'photo';
    picture.alt = '';
    const loading = media(item.image_url, { isThirdParty: true }).then((address) => {
      picture.src = address;
      return picture.decode();
    });
    const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('late')), PICTURE_MS));
    const hasCome = await Promise.race([loading, late]).then(
      () => true,
      () => false,
    );
    const isLarge = Math.min(picture.naturalWidth, picture.naturalHeight) >= SMALLEST_PICTURE;
    if (!hasCome || !isLarge || story.dataset['on'] !== undefined) return;
    story.prepend(picture);
    story.classList.add('pictured');
  };

  return { story, refit, ready: Promise.all([illustrate().catch(() => {}), hyphenate(words)]) };
};
type Story = ReturnType<typeof createStory>;

/** The headlines of a feed, one at a time, each with its picture. */
export const createRss: SlideFactory = (context) => {
  const { slide, payload, timeZone, now } = context;
  const view = createView('rss');
  const frame = view.element;
  const look = lookOf(slide, payload.slides, payload.style);
  paint(frame, look.palette);

  const source = make('footer', 'source');
  const marks = make('div', 'marks');
  const name = make('span', 'name');
  const time = make('time', 'time');
  name.dir = 'auto';
  source.append(name, time, marks);

  const stories = new Map<number, Story>();
  let items: Item[] = [];
  let shown: Story | null = null;
  let length: number | null = null;

  const storyAt = (index: number): Story | null => {
    const item = items[index];
    if (item === undefined) return null;
    const story = stories.get(index) ?? createStory(item, context);
    stories.set(index, story);
    return story;
  };

  const sign = (index: number): void => {
    // The footer is aligned like the story above it.
    const headline = shown?.story.querySelector('.headline, .summary');
    if (headline) source.dir = getComputedStyle(headline).direction;
    const published = items[index]?.published_at ?? null;
    time.textContent = published === null ? '' : since(Date.parse(published), now(), timeZone);
    if (items.length > MOST_MARKS) marks.textContent = `${index + 1} / ${items.length}`;
    else for (const [at, mark] of [...marks.children].entries()) mark.classList.toggle('on', at === index);
  };

  const put = (index: number): void => {
    const next = storyAt(index);
    if (next === null || next === shown) return;
    const before = shown;
    shown = next;
    next.story.dataset['on'] = '';
    frame.insertBefore(next.story, source);
    next.refit();
    sign(index);
    if (before !== null) {
      const turn = next.story.animate({ opacity: [0, 1] }, { duration: TURN_MS, easing: 'ease-in-out' });
      turn.finished.then(
        () => shown !== before && before.story.remove(),
        () => {},
      );
    }
    const near = nextTo(index, items.length);
    for (const held of stories.keys()) if (held !== index && !near.includes(held)) stories.delete(held);
    for (const each of near) storyAt(each);
  };

  const pages = createPages(put);
  const paged = withPages(view, pages);
  const fitWatch = watchFit(frame, () => shown?.refit());

  return {
    ...paged,
    get length() {
      return length;
    },
    async prepare(signal) {
      const feed = feedOf(slide, payload);
      const wanted = slide.content?.['items'];
      const share = spread(slide, Math.min(feed.items.length, Number(wanted ?? DEFAULT_ITEMS)), PAGE_TIME);
      items = feed.items.slice(0, share.count);
      length = share.length;
      // Ids are not shown to passers-by.
      name.textContent = slide.title ?? (feed.name === feed.id ? '' : feed.name);
      if (items.length > 1 && items.length <= MOST_MARKS) marks.append(...items.map(() => make('i', 'mark')));
      frame.append(source);
      pages.open(items.length, share.pageMs);
      await storyAt(0)?.ready;
      signal.throwIfAborted();
      put(0);
      await fontsLoaded(frame);
      signal.throwIfAborted();
      fitWatch.start();
    },
    destroy() {
      fitWatch.stop();
      stories.clear();
      paged.destroy();
    },
  };
};
