/** What can be done with the selected slides. */
import { useConsole } from '../ui/context.tsx';
import { Button } from '../ui/controls.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import type { Layout } from './cards.tsx';

interface SlideToolsProps {
  /** Of the selected slides. */
  count: number;
  isFirst: boolean;
  isLast: boolean;
  canPaste: boolean;
  /** Whether a click adds to the selection. */
  isMany: boolean;
  layout: Layout;
  isWeek: boolean;
  onAdd(): void;
  /** @param by -1: earlier; 1: later */
  onMove(by: -1 | 1): void;
  onDuplicate(): void;
  onCopy(): void;
  onCut(): void;
  onPaste(): void;
  onRemove(): void;
  onShow(): void;
  onMany(): void;
  onLayout(): void;
  onWeek(): void;
}

export const SlideTools = (props: SlideToolsProps) => {
  const { access, texts } = useConsole();
  const words = texts.editor;
  const { count, isFirst, isLast, layout } = props;
  const tool = (icon: IconName, label: string, isEnabled: boolean, onClick: () => void) => (
    <button type="button" class="icon-button" aria-label={label} title={label} disabled={!isEnabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="row strip-tools">
      <Button class="small primary" onClick={props.onAdd}>
        <Icon name="plus" /> {words.add}
      </Button>
      <div class="row tool-group">
        {tool('left', words.moveBack, count > 0 && !isFirst, () => props.onMove(-1))}
        {tool('right', words.moveOn, count > 0 && !isLast, () => props.onMove(1))}
        {tool('duplicate', words.duplicate, count > 0, props.onDuplicate)}
        {tool('copy', words.copy, count > 0, props.onCopy)}
        {tool('cut', words.cut, count > 0, props.onCut)}
        {tool('paste', words.paste, props.canPaste, props.onPaste)}
        {tool('forget', words.remove, count > 0, props.onRemove)}
      </div>
      {access.may('POST /console/api/screens/:slug/show') && (
        <Button class="small" disabled={count === 0} onClick={props.onShow}>
          <Icon name="screens" /> {words.showNow}
        </Button>
      )}
      <Button class="small" aria-pressed={props.isWeek} onClick={props.onWeek}>
        <Icon name="timetable" /> {texts.week.title}
      </Button>
      <div class="row tool-end">
        {count > 1 && <span class="soft">{words.selected({ count })}</span>}
        <Button class="small" aria-pressed={props.isMany} onClick={props.onMany}>
          <Icon name="check" /> {words.many}
        </Button>
        <button
          type="button"
          class="icon-button"
          aria-label={layout === 'grid' ? words.asStrip : words.asGrid}
          title={layout === 'grid' ? words.asStrip : words.asGrid}
          onClick={props.onLayout}
        >
          <Icon name={layout === 'grid' ? 'strip' : 'grid'} />
        </button>
      </div>
    </div>
  );
};
