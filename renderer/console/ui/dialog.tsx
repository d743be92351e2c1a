/** A modal dialog: the browser's own, which keeps the focus inside and gives it back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useConsole } from './context.tsx';
import { Icon } from './icon.tsx';

interface DialogProps {
  title: string;
  /** Called when the person closes it; absent: it cannot be closed. */
  onClose?: () => void;
  /** Room for more than a question. */
  isWide?: boolean;
  children: ComponentChildren;
}

export const Dialog = ({ title, onClose, isWide = false, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const { texts } = useConsole();
  useEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={heading}
      onCancel={(event) => {
        // Closing is up to the owner, who takes the element away.
        event.preventDefault();
        onClose?.();
      }}
    >
      <div class="dialog-head">
        <h2 id={heading}>{title}</h2>
        {onClose && (
          <button type="button" class="icon-button" aria-label={texts.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </div>
      {children}
    </dialog>
  );
};
