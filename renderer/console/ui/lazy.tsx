/** A part of the console that is loaded when it is first opened. */
import { useSignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { useConsole } from './context.tsx';
import { Button, Empty } from './controls.tsx';

interface LazyProps<Props extends object> {
  load(): Promise<FunctionComponent<Props>>;
  with: Props;
}

export const Lazy = <Props extends object>({ load, with: props }: LazyProps<Props>) => {
  const { texts } = useConsole();
  const part = useSignal<{ component: FunctionComponent<Props> } | null>(null);
  const hasFailed = useSignal(false);
  const fetch = (): void => {
    hasFailed.value = false;
    load()
      .then((component) => {
        part.value = { component };
      })
      .catch(() => {
        hasFailed.value = true;
      });
  };
  useEffect(fetch, []);
  if (part.value !== null) {
    const { component: Part } = part.value;
    return <Part {...props} />;
  }
  if (!hasFailed.value) return <p class="soft">{texts.loading}</p>;
  // The box was updated and has other files: the page must be reloaded.
  return (
    <Empty>
      <p>{texts.errors.unreachable}</p>
      <Button onClick={() => location.reload()}>{texts.retry}</Button>
    </Empty>
  );
};
