import { frame, framing, surround } from './frame.ts';
import { createView, mediaUrl, type SlideFactory } from './slide.ts';

/** A still picture, decoded before it is shown. */
export const createImage: SlideFactory = ({ slide, payload, media }) => {
  const view = createView('image');
  const image = new Image();
  image.className = 'picture';
  image.decoding = 'sync';
  image.alt = slide.title ?? '';
  const how = framing(slide.content);
  frame(image, how);

  return {
    ...view,
    async prepare(signal) {
      const url = mediaUrl(slide);
      const address = await media(url);
      signal.throwIfAborted();
      image.src = address;
      await image.decode().catch(() => {
        throw new Error(`${url} cannot be loaded, or isn't a picture`);
      });
      signal.throwIfAborted();
      const around = surround(slide, payload, how, image, image.naturalWidth, image.naturalHeight);
      view.element.append(...around, image);
    },
    destroy() {
      image.removeAttribute('src');
      view.destroy();
    },
  };
};
