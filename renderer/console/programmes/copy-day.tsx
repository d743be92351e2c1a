/** Asks on which days of the week the programmes of one are repeated. */
import { useSignal } from '@preact/signals';
import { useConsole } from '../ui/context.tsx';
import { Dialog } from '../ui/controls.tsx';

const weekdays = [1, 2, 3, 4, 5, 6, 7] as const;

interface CopyDayProps {
  /** 1 is Monday. */
  from: number;
  onCopy(to: readonly number[]): void;
  onClose(): void;
}

export const CopyDay = ({ from, onCopy, onClose }: CopyDayProps) => {
  const { texts, format } = useConsole();
  const words = texts.programmes;
  const others = weekdays.filter((day) => day !== from);
  const chosen = useSignal<readonly number[]>(others);
  return (
    <Dialog title={words.copyTitle({ day: format.weekday(from) })} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen.value.length > 0) onCopy(chosen.value);
          onClose();
        }}
      >
        <p>{words.copyTask({ day: format.weekday(from) })}</p>
        <fieldset class="chips">
          <legend class="unseen">{texts.schedule.days}</legend>
          {others.map((day) => (
            <label key={day} class="chip day">
              <input
                type="checkbox"
                checked={chosen.value.includes(day)}
                onChange={({ currentTarget: { checked } }) => {
                  chosen.value = checked ? [...chosen.value, day] : chosen.value.filter((each) => each !== day);
                }}
              />
              <span>{format.weekday(day)}</span>
            </label>
          ))}
        </fieldset>
        <div class="buttons end">
          <button type="button" class="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class="button primary" disabled={chosen.value.length === 0}>
            {words.copy}
          </button>
        </div>
      </form>
    </Dialog>
  );
};
