/** Files may be dropped on any page; other pages than the media page show the number of uploads in progress. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { hrefOf } from '../stores/router.ts';
import { isActive } from '../stores/uploads.ts';
import { useConsole } from '../ui/context.tsx';

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

export const Drop = () => {
  const { uploads, router, texts } = useConsole();
  const isOver = useSignal(false);
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      isOver.value = true;
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) isOver.value = false;
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      isOver.value = false;
      uploads.add(event.dataTransfer?.files ?? []);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, []);
  const count = uploads.list.value.filter(isActive).length;
  return (
    <>
      {isOver.value && <p class="drop-note">{texts.media.drop}</p>}
      {count > 0 && router.path.value[0] !== 'media' && (
        <div class="upload-note" role="status">
          <a href={hrefOf('media')}>{texts.media.underWay({ count })}</a>
        </div>
      )}
    </>
  );
};
