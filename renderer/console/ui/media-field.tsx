/** A medium: chosen from those of the site, or an address that is typed. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { useConsole } from './context.tsx';
import { Icon } from './icon.tsx';
import { MediaChooser } from './media-chooser.tsx';

interface MediaFieldProps {
  label: string;
  /** `/media/NAME` or a URL; empty: none. */
  value: string;
  /** Beginnings of the media types to choose from; empty: all. */
  accepts: readonly string[];
  fault?: string | null;
  caution?: string | null;
  isRequired?: boolean;
  onChange(value: string): void;
}

export const MediaField = ({
  label,
  value,
  accepts,
  fault = null,
  caution = null,
  isRequired = false,
  onChange,
}: MediaFieldProps) => {
  const { texts } = useConsole();
  const isOpen = useSignal(false);
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="media-field">
        <input
          id={id}
          value={value}
          placeholder="/media/…"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required={isRequired}
          aria-invalid={fault !== null}
          aria-describedby={`${id}-note`}
          onInput={(event) => onChange(event.currentTarget.value.trim())}
        />
        {value !== '' && (
          <button type="button" class="icon-button" aria-label={texts.mediaField.clear} onClick={() => onChange('')}>
            <Icon name="close" />
          </button>
        )}
        <button type="button" class="button" onClick={() => (isOpen.value = true)}>
          {texts.mediaField.choose}
        </button>
      </div>
      <div id={`${id}-note`}>
        <p class="fault">{fault}</p>
        {caution !== null && <p class="caution">{caution}</p>}
      </div>
      {isOpen.value && (
        <MediaChooser
          accepts={accepts}
          onClose={() => (isOpen.value = false)}
          onChoose={(url) => {
            isOpen.value = false;
            onChange(url);
          }}
        />
      )}
    </div>
  );
};
