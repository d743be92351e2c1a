/** The state of a medium that displays do not show as it is: waiting, being converted, converted or not shown. */
import type { MediaList } from '../model/wire.ts';
import { useConsole } from './context.tsx';

type Rendition = MediaList['media'][number]['rendition'];

/** Whether its state changes soon by itself. */
export const isUnderWay = ({ state }: Rendition): boolean => state === 'queued' || state === 'converting';

/** @param isBrief without what needs no attention */
export const RenditionNote = ({ rendition, isBrief = false }: { rendition: Rendition; isBrief?: boolean }) => {
  const { texts, format } = useConsole();
  const words = texts.media.rendition;
  const { state, progress, reason, size } = rendition;
  if (state === 'none' || (isBrief && state === 'ready')) return null;
  if (state === 'failed') {
    return <p class="rendition caution">{words.failed({ reason: texts.ofBox(reason ?? '').trim() })}</p>;
  }
  return (
    <p class="rendition soft">
      {state === 'queued' && words.queued}
      {state === 'queued' && reason !== null && ` ${texts.ofBox(reason)}`}
      {state === 'converting' && words.converting({ percent: format.percent(progress) })}
      {state === 'ready' && words.ready({ size: format.bytes(size ?? 0) })}
      {state === 'converting' && <progress max={1} value={progress} aria-hidden="true" />}
    </p>
  );
};
