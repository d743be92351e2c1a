/** The controls that all pages of the console share. */
import type { Signal } from '@preact/signals';
import type { ButtonHTMLAttributes, ComponentChildren, DetailsHTMLAttributes } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { reasonOf } from '../api/errors.ts';
import { useConsole } from './context.tsx';
import { Icon, type IconName } from './icon.tsx';

interface DialogProps {
  title: string;
  /** Called when the person closes it; absent: it cannot be closed. */
  onClose?: () => void;
  /** Room for more than a question. */
  isWide?: boolean;
  children: ComponentChildren;
}

/** A modal dialog: the browser's own, which keeps the focus inside and gives it back. */
export const Dialog = ({ title, onClose, isWide = false, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const { texts, announcer } = useConsole();
  const { dialogs } = announcer;
  // Before anything is painted or taken away: later the browser does not know where the focus was.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    dialogs.value = [...dialogs.peek(), heading];
    return () => {
      dialog.current?.close();
      dialogs.value = dialogs.peek().filter((each) => each !== heading);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={heading}
      closedby={onClose ? 'closerequest' : 'none'}
      onCancel={(event) => {
        // A file field in it that was left without a choice says so by the same event.
        if (event.target !== event.currentTarget) return;
        // Closing is up to the owner, who takes the element away.
        event.preventDefault();
        onClose?.();
      }}
      // Browsers close it where `closedby` is unknown, or `cancel` cannot be prevented.
      onClose={() => dialog.current?.showModal()}
    >
      <div class="dialog-head">
        <h2 id={heading}>{title}</h2>
        {onClose && <IconButton icon="close" label={texts.close} onClick={onClose} />}
      </div>
      {children}
      <Notices isShown={dialogs.value.at(-1) === heading} />
    </dialog>
  );
};

/** What was announced last. @param props.isShown whether it is said here; the place of it is there before, as readers need */
export const Notices = ({ isShown }: { isShown: boolean }) => {
  const { announcer, texts } = useConsole();
  return (
    <div class="notices" role="status" aria-live="polite">
      {(isShown ? announcer.notices.value : []).map(({ id, text, kind, action }) =>
        kind === 'spoken' ? (
          <p key={id} class="unseen">
            {text}
          </p>
        ) : (
          <p key={id} class={kind === 'failure' ? 'toast failure' : 'toast'}>
            <span>{text}</span>
            {action !== null && (
              <button
                type="button"
                class="toast-action"
                onClick={() => {
                  announcer.dismiss(id);
                  action.act();
                }}
              >
                {action.label}
              </button>
            )}
            <IconButton icon="close" label={texts.dismiss} onClick={() => announcer.dismiss(id)} />
          </p>
        ),
      )}
    </div>
  );
};

/** @param props.class what kind of button it is, such as `small` */
export const Button = ({ class: kind = '', ...props }: Omit<ButtonHTMLAttributes, 'class'> & { class?: string }) => (
  <button type="button" {...props} class={`button ${kind}`.trim()} />
);

/** Opens when `isWanted` becomes true, and never closes by itself: somebody may be typing in it. */
export const Fold = ({ isWanted, ...props }: Omit<DetailsHTMLAttributes, 'open'> & { isWanted: boolean }) => {
  const details = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (isWanted && details.current !== null) details.current.open = true;
  }, [isWanted]);
  return <details ref={details} {...props} />;
};

/** A round button without text. @param props.label read aloud */
export const IconButton = (props: { icon: IconName; label: string; disabled?: boolean; onClick(): void }) => (
  <button
    type="button"
    class="icon-button"
    aria-label={props.label}
    disabled={props.disabled ?? false}
    onClick={props.onClick}
  >
    <Icon name={props.icon} />
  </button>
);

/** A field that a list is searched by. @param props.label also its placeholder */
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

/** What a page says when it has nothing to list. */
export const Empty = ({ title, children }: { title?: string; children?: ComponentChildren }) => (
  <div class="empty">
    {title !== undefined && <h2>{title}</h2>}
    {children}
  </div>
);

/** Why something could not be loaded, in the place of it, with another attempt. */
export const Failure = ({ reason, onRetry }: { reason: unknown; onRetry(): void }) => {
  const { texts } = useConsole();
  return (
    <Empty>
      <p role="alert">{typeof reason === 'string' ? reason : reasonOf(reason, texts)}</p>
      <Button onClick={onRetry}>{texts.retry}</Button>
    </Empty>
  );
};

/** A question that is answered with one of two buttons. */
export const Confirm = (props: {
  title: string;
  submit: string;
  isDanger?: boolean;
  /** From the request until its answer. */
  isBusy?: boolean;
  onClose(): void;
  onSubmit(): void;
  children: ComponentChildren;
}) => {
  const { texts } = useConsole();
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="stack">
        {props.children}
        <div class="buttons end">
          <Button onClick={props.onClose}>{texts.cancel}</Button>
          <button
            type="button"
            class={props.isDanger ? 'button danger primary' : 'button primary'}
            aria-disabled={props.isBusy}
            onClick={() => !props.isBusy && props.onSubmit()}
          >
            {props.submit}
          </button>
        </div>
      </div>
    </Dialog>
  );
};

export const FormDialog = ({
  isWide = false,
  noValidate = false,
  disabled = false,
  ...props
}: {
  title: string;
  submit: string;
  isWide?: boolean;
  /** Leaves it to `onSubmit` to say what is wrong. */
  noValidate?: boolean;
  disabled?: boolean;
  /** From the request until its answer. */
  isBusy?: boolean;
  onClose(): void;
  onSubmit(form: FormData): void;
  children: ComponentChildren;
}) => {
  const { texts } = useConsole();
  return (
    <Dialog title={props.title} onClose={props.onClose} isWide={isWide}>
      <form
        class="stack"
        noValidate={noValidate}
        onSubmit={(event) => {
          event.preventDefault();
          if (!props.isBusy) props.onSubmit(new FormData(event.currentTarget));
        }}
      >
        {props.children}
        <div class="buttons end">
          <Button onClick={props.onClose}>{texts.cancel}</Button>
          <Button type="submit" class="primary" disabled={disabled} aria-disabled={props.isBusy}>
            {props.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
};

/** Why something is not done, read aloud when it appears. */
export const Fault = (props: { id?: string; children: ComponentChildren }) => (
  <p class="fault" role="alert" {...props} />
);

/** What a control needs to belong to its field. */
export interface FieldControl {
  id: string;
  'aria-invalid': boolean;
  'aria-describedby': string;
}

/** A control with its label, and what is said about it. @param props.children makes the control */
export const Field = (props: {
  /** Its name in the document, by which an address finds it. */
  name?: string;
  label: string;
  hint?: string;
  /** Why the value is not taken; null: it is. Absent: it always is. */
  fault?: string | null;
  children(control: FieldControl): ComponentChildren;
}) => {
  const id = useId();
  const noteId = `${id}-note`;
  return (
    <div class="field" data-field={props.name}>
      <label for={id}>{props.label}</label>
      {props.children({ id, 'aria-invalid': (props.fault ?? null) !== null, 'aria-describedby': noteId })}
      <div id={noteId} class="field-note">
        {props.hint !== undefined && <p class="hint">{props.hint}</p>}
        {props.fault !== undefined && <Fault>{props.fault}</Fault>}
      </div>
    </div>
  );
};

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly T[];
  current: T;
  hrefOf(tab: T): string;
  nameOf(tab: T): string;
}

/** The parts of a page, as links; on a phone they scroll, and the current one is in sight. */
export const Tabs = <T extends string>({ label, tabs, current, hrefOf, nameOf }: TabsProps<T>) => {
  const bar = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const link = bar.current?.querySelector<HTMLElement>('[aria-current]');
    if (bar.current === null || link == null) return;
    // Not scrollIntoView, which would move the page, too.
    bar.current.scrollLeft =
      link.offsetLeft - bar.current.offsetLeft - (bar.current.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={bar}>
      {tabs.map((tab) => (
        <a key={tab} href={hrefOf(tab)} aria-current={tab === current ? 'page' : undefined}>
          {nameOf(tab)}
        </a>
      ))}
    </nav>
  );
};
