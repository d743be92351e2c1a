/** Asks for the name of this device, by which its key is known. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { reasonOf } from '../api/errors.ts';
import { useConsole } from './context.tsx';
import { Button } from './controls.tsx';
import { TextField } from './inputs.tsx';

interface DeviceFormProps {
  /** What is typed already. */
  value?: string;
  /** What was wrong before; null: nothing. */
  fault?: string | null;
  submit: string;
  /** @throws an error whose reason is shown */
  onSubmit(device: string): Promise<void>;
  /** Absent: it cannot be declined. */
  onDecline?(): void;
  children?: ComponentChildren;
}

export const DeviceForm = ({ value = '', submit, onSubmit, onDecline, children, ...props }: DeviceFormProps) => {
  const { texts } = useConsole();
  const words = texts.join;
  const [fault, setFault] = useState(props.fault ?? null);
  const [isBusy, setBusy] = useState(false);

  const send = async (form: HTMLFormElement): Promise<void> => {
    const device = String(new FormData(form).get('device')).trim();
    if (device === '') return setFault(words.missing);
    setBusy(true);
    setFault(null);
    try {
      await onSubmit(device);
    } catch (error) {
      setFault(reasonOf(error, texts));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void send(event.currentTarget);
      }}
    >
      {children}
      <TextField
        label={words.device}
        hint={words.deviceHint}
        fault={fault}
        name="device"
        maxLength={64}
        defaultValue={value}
      />
      <Button type="submit" class="primary" aria-disabled={isBusy}>
        {submit}
      </Button>
      {onDecline !== undefined && <Button onClick={onDecline}>{words.decline}</Button>}
    </form>
  );
};
