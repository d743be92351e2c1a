import type { Slide } from '../../../service/contract/playlist.ts';
import { withAge } from './age.ts';
import { createCalendar } from './calendar.ts';
import { createImage } from './image.ts';
import { createPdf } from './pdf.ts';
import { createRss } from './rss.ts';
import { createView, type SlideFactory } from './slide.ts';
import { createStream } from './stream.ts';
import { createTemplate } from './template.ts';
import { createText } from './text.ts';
import { createTimetable } from './timetable.ts';
import { createVideo } from './video.ts';
import { createWeb } from './web.ts';

const factories: Partial<Record<Slide['kind'], SlideFactory>> = {
  text: createText,
  image: createImage,
  video: createVideo,
  web: withAge(createWeb),
  template: withAge(createTemplate),
  stream: createStream,
  pdf: createPdf,
  rss: withAge(createRss),
  timetable: withAge(createTimetable),
  calendar: withAge(createCalendar),
} satisfies Record<Slide['kind'], SlideFactory>;

const createUnknown: SlideFactory = ({ slide }) => ({
  ...createView(slide.kind),
  prepare: () => Promise.reject(new Error(`this player cannot show ${slide.kind} yet`)),
});

/** Creates the view of a slide by its kind. The view of an unknown kind rejects when it is prepared. */
export const createSlide: SlideFactory = (context) => (factories[context.slide.kind] ?? createUnknown)(context);
