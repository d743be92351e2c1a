/** Which slide a display could not show last, and why. */
import type { Display } from '../model/displays.ts';
import { titleOf } from '../model/document.ts';
import { shownSlide } from '../model/shown.ts';
import { useConsole } from './context.tsx';

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
