import type { TakeoverLevel } from '../../../service/contract/console/takeover-levels.ts';
import type { Slide } from '../../../service/contract/playlist.ts';
import { createImage } from './image.ts';
import { takeoverLook } from './palette.ts';
import type { SlideContext, SlideFactory, SlideView } from './slide.ts';
import { createText } from './text.ts';
import { createVideo } from './video.ts';

/** The shapes of the signs: colour alone must not distinguish the levels (WCAG 2.2, 1.4.1). */
const signs: Record<TakeoverLevel, string> = {
  info: '<circle cx="50" cy="50" r="46"/><path class="mark" d="M50 26v.1M50 46v30"/>',
  warning:
    '<path d="M50 8 96 90H4Z" stroke-width="8" stroke-linejoin="round"/><path class="mark" d="M50 38v24M50 76v.1"/>',
  emergency: '<path d="M31 4h38l27 27v38L69 96H31L4 69V31Z"/><path class="mark" d="M50 24v32M50 74v.1"/>',
};

const levelOf = ({ content }: Slide): TakeoverLevel => {
  const { level } = (content?.['takeover'] ?? {}) as { level?: TakeoverLevel };
  return level !== undefined && level in signs ? level : 'info';
};

const signOf = (level: TakeoverLevel): Element => {
  const box = document.createElement('div');
  box.innerHTML = `<svg class="sign" viewBox="0 0 100 100" aria-hidden="true">${signs[level]}</svg>`;
  return box.firstElementChild as Element;
};

/** Title and body, as large as they fit, in the colours and with the sign of the level. */
const createNotice = (context: SlideContext): SlideView => {
  const level = levelOf(context.slide);
  const slide = {
    ...context.slide,
    content: { ...context.slide.content, ...takeoverLook(level, context.payload.style) },
  };
  const view = createText({ ...context, slide });
  view.element.classList.add('notice', `notice-${level}`);
  view.element.append(signOf(level));
  return view;
};

/** The whole picture or film: a crop could remove what matters. */
const createMedium = (context: SlideContext): SlideView => {
  const { slide } = context;
  const create = slide.kind === 'video' ? createVideo : createImage;
  return create({ ...context, slide: { ...slide, content: { fit: 'contain', background: '#000', ...slide.content } } });
};

type Candidate = () => SlideView;

/**
 * A takeover: its picture or film, else its text. A medium that can't be shown is replaced by the text, and a text that
 * can't be shown by the title alone.
 * @param onError called with the reason why a medium or a text was replaced
 */
export const createTakeover =
  (onError: (slideId: string, reason: string) => void): SlideFactory =>
  (context) => {
    const { slide, fail } = context;
    const hasText = Boolean(slide.title?.trim() || slide.body?.trim());
    const element = document.createElement('section');
    element.className = 'takeover';
    const life = new AbortController();
    let isStarted = false;

    /** The whole text, and the title alone. */
    const notices: Candidate[] = [];
    if (hasText) notices.push(() => createNotice(context));
    if (slide.title && slide.body) notices.push(() => createNotice({ ...context, slide: { ...slide, body: null } }));

    const onMediumFailed = (reason: string): void => {
      if (!hasText) return fail(reason);
      onError(slide.id, reason);
      prepareFirst(notices, life.signal).then(replace, (error: Error) => life.signal.aborted || fail(error.message));
    };
    let current: SlideView | null = null;

    const replace = (view: SlideView): void => {
      const before = current;
      current = view;
      element.append(view.element);
      if (isStarted) view.start();
      before?.destroy();
      before?.element.remove();
    };

    /** Resolves to the first view that can be prepared. */
    const prepareFirst = async (candidates: readonly Candidate[], signal: AbortSignal): Promise<SlideView> => {
      const [create, ...rest] = candidates;
      const view = create?.();
      if (view === undefined) throw new Error('there is nothing to show');
      element.prepend(view.element);
      try {
        await view.prepare(signal);
        return view;
      } catch (error) {
        view.destroy();
        view.element.remove();
        if (signal.aborted || rest.length === 0) throw error;
        onError(slide.id, (error as Error).message);
        return prepareFirst(rest, signal);
      }
    };

    return {
      element,
      length: null,
      prepare: async (signal) => {
        const media = slide.media_url === null ? [] : [() => createMedium({ ...context, fail: onMediumFailed })];
        replace(await prepareFirst([...media, ...notices], signal));
      },
      start: () => {
        isStarted = true;
        current?.start();
      },
      presented: () => current?.presented?.() ?? Promise.resolve(),
      pause: () => current?.pause(),
      resume: () => current?.resume(),
      flipPage: () => false,
      destroy: () => {
        life.abort(new Error('the takeover is over'));
        current?.destroy();
        element.remove();
      },
    };
  };
