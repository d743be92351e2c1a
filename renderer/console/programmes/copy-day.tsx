/** Asks on which days of the week the programmes of one are repeated. */
import { useSignal } from '@preact/signals';
import { useConsole } from '../ui/context.tsx';
import { FormDialog } from '../ui/controls.tsx';
import { Weekdays } from '../ui/inputs.tsx';

interface CopyDayProps {
  /** 1 is Monday. */
  from: number;
  onCopy(to: readonly number[]): void;
  onClose(): void;
}

export const CopyDay = ({ from, onCopy, onClose }: CopyDayProps) => {
  const { texts, format } = useConsole();
  const words = texts.programmes;
  const others = [1, 2, 3, 4, 5, 6, 7].filter((day) => day !== from);
  const chosen = useSignal<readonly number[]>(others);
  return (
    <FormDialog
      title={words.copyTitle({ day: format.weekday(from) })}
      submit={words.copy}
      disabled={chosen.value.length === 0}
      onClose={onClose}
      onSubmit={() => {
        if (chosen.value.length > 0) onCopy(chosen.value);
        onClose();
      }}
    >
      <p>{words.copyTask({ day: format.weekday(from) })}</p>
      <Weekdays chosen={chosen.value} days={others} onChange={(days) => (chosen.value = days)} />
    </FormDialog>
  );
};
