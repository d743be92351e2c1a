/** Every frame that a page presents, small, as it would be seen by a passer-by. */
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import type { Rgb } from './media.ts';

export interface Frame {
  /** Seconds since the epoch. */
  at: number;
  /** The colours at a grid of points. */
  points: Rgb[];
}

const sample = (png: Buffer): Rgb[] => {
  const { data, width, height } = PNG.sync.read(png);
  const shares = [0.1, 0.3, 0.5, 0.7, 0.9];
  return shares.flatMap((down) =>
    shares.map((right): Rgb => {
      const at = (Math.floor(height * down) * width + Math.floor(width * right)) * 4;
      return [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0];
    }),
  );
};

/** Records the frames of a page until it is told to stop. */
export const record = async (page: Page): Promise<{ stop(): Promise<Frame[]> }> => {
  const session = await page.context().newCDPSession(page);
  const frames: Frame[] = [];
  session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    session.send('Page.screencastFrameAck', { sessionId }).catch(() => {});
    frames.push({ at: metadata.timestamp ?? 0, points: sample(Buffer.from(data, 'base64')) });
  });
  await session.send('Page.startScreencast', { format: 'png', maxWidth: 96, maxHeight: 54, everyNthFrame: 1 });
  return {
    stop: async () => {
      await session.send('Page.stopScreencast');
      return frames;
    },
  };
};
