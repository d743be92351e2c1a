/** What a display shows: a screenshot if available, else its page once more, else a drawing of the slide. Each is labelled. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Display } from '../model/displays.ts';
import { titleOf } from '../model/document.ts';
import { type ShownSlide, shownSlide } from '../model/shown.ts';
import type { Photo } from '../stores/pictures.ts';
import { useConsole } from './context.tsx';
import { Miniature } from './miniature.tsx';
import { useVisible } from './visible.ts';

interface ViewProps {
  display: Display;
  /** Null: it shows none, or one that is not known. */
  slide: ShownSlide | null;
  /** How often a photograph is taken, ms. */
  every?: number;
  /** Shows the slide in place of the drawing, and says so. */
  children?: ComponentChildren;
}

/** A display is photographed at most once in 5 s. */
const EVERY_MS = 6_000;

/** Null: it can't be photographed; undefined: that is not known yet. */
const usePhoto = (connectionId: string | null, isVisible: boolean, every: number): Photo | null | undefined => {
  const { pictures } = useConsole();
  const [photo, setPhoto] = useState<Photo | null>();
  useEffect(() => {
    if (connectionId === null) setPhoto(null);
    if (!isVisible || connectionId === null) return undefined;
    let isCurrent = true;
    const take = async (): Promise<void> => {
      if (document.hidden) return;
      const taken = await pictures.photograph(connectionId);
      if (isCurrent) setPhoto(taken);
      else if (taken !== null) URL.revokeObjectURL(taken.url);
    };
    void take();
    const timer = setInterval(() => void take(), every);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [connectionId, isVisible, every]);
  // The one before is let go of once the next one is shown.
  useEffect(
    () => () => {
      if (photo != null) URL.revokeObjectURL(photo.url);
    },
    [photo],
  );
  return photo;
};

/** The slide as it is known from the content; of one that is not known its title. */
export const Drawing = ({ slide, title }: { slide: ShownSlide | null; title: string | null }) => {
  const { texts } = useConsole();
  if (slide === null) return <span class="view-words">{title}</span>;
  return (
    <>
      <Miniature {...slide} />
      <span class="view-label">{texts.picture.slide}</span>
    </>
  );
};

export const View = ({ display, slide, every = EVERY_MS, children }: ViewProps) => {
  const { texts, format } = useConsole();
  const box = useRef<HTMLDivElement>(null);
  const isVisible = useVisible(box);
  const { connection, state, name } = display;
  const photo = usePhoto(connection?.id ?? null, isVisible, every);
  const words = texts.picture;
  const isOff = connection === null || state === 'away' || state === 'never';
  // The page that a display was sent to is no slide.
  const isShowing = connection?.currentSlide != null || connection?.currentSlideId != null || state === 'redirected';
  return (
    <div ref={box} class={isOff ? 'view off' : 'view'}>
      {photo != null ? (
        <>
          <img src={photo.url} alt={words.ofDisplay({ name: name ?? texts.unnamed })} />
          <span class="view-label">{words.photo({ time: format.time(photo.capturedAt) })}</span>
        </>
      ) : state === 'black' ? (
        <span class="view-words">{words.black}</span>
      ) : !isShowing ? (
        !isOff && <span class="view-words">{words.nothing}</span>
      ) : photo === null && children ? (
        children
      ) : (
        <Drawing slide={slide} title={connection?.currentSlideTitle ?? null} />
      )}
    </div>
  );
};

/** Which slide a display could not show last, and why. */
export const FaultNote = ({ display: { fault }, slug }: { display: Pick<Display, 'fault'>; slug: string }) => {
  const { documents, texts, format, clock } = useConsole();
  if (fault === null) return null;
  const { slideId, reason, at } = fault;
  const slide = shownSlide({ currentSlideId: slideId }, slug, documents.current.value?.content ?? null, []);
  const name = slide === null ? slideId : titleOf(slide.slide, slide.id);
  const time = format.when(at, clock.now());
  const words = texts.fault;
  return (
    <p class="caution" dir="auto">
      {name === null ? words.any({ reason, time }) : words.slide({ name, reason, time })}
    </p>
  );
};
