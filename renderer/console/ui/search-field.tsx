import type { Signal } from '@preact/signals';
import { Icon } from './icon.tsx';

/** A field that a list is searched by. @param label also its placeholder */
export const SearchField = ({ label, text }: { label: string; text: Signal<string> }) => (
  <label class="search">
    <Icon name="search" />
    <span class="unseen">{label}</span>
    <input
      type="search"
      placeholder={label}
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value;
      }}
    />
  </label>
);
