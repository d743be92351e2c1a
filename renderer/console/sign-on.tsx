/** Signs in with the provider of the house: this browser makes a key, which counts once the person has signed in there. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SignInBegun, SignInState } from '../../service/contract/console/people.ts';
import { qrPicture } from '../player/slides/qr-code.ts';
import { answerOf, isCode } from './api/errors.ts';
import { keepPersonKey, makeKey, type NewKey } from './api/person-key.ts';
import { useConsole } from './ui/context.tsx';
import { Button } from './ui/controls.tsx';
import { DeviceForm } from './ui/device-form.tsx';

const path = '/console/api/oidc';
const headers = { 'Content-Type': 'application/json', 'x-signage-page': '1' };

/** Public operations, whose answers nothing proves but https. */
const ask = async <Answer,>(url: string, body?: unknown): Promise<Answer> => {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await answerOf(fetch(url, { cache: 'no-store', headers, ...sent }));
  return (await response.json()) as Answer;
};

interface Waiting {
  begun: SignInBegun;
  key: NewKey;
  device: string;
}

export const SignOn = () => {
  const { session, texts, announcer, secureUrl } = useConsole();
  const words = texts.signOn;
  const [waiting, setWaiting] = useState<Waiting | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const named = useRef('');

  useEffect(() => {
    if (waiting === null) return;
    const { begun, key } = waiting;
    let isOver = false;
    const look = async (): Promise<void> => {
      const { state, person } = await ask<SignInState>(`${path}/${begun.id}`);
      if (isOver || state === 'pending') return;
      isOver = true;
      setWaiting(null);
      if (state !== 'done') return setFault(words[state]);
      const name = person?.name ?? '';
      session.joined(await keepPersonKey(key, name, person?.id));
      announcer.say(texts.join.done({ name }));
    };
    const fail = (error: unknown): void => {
      // What the box does not answer now is asked again; a box that was restarted knows of no sign-in.
      if (isOver || !isCode(error, 'sign_in_not_found')) return;
      isOver = true;
      setWaiting(null);
      setFault(words.expired);
    };
    const timer = setInterval(() => void look().catch(fail), begun.interval * 1_000);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [waiting]);

  const start = async (device: string): Promise<void> => {
    setFault(null);
    const key = await makeKey();
    setWaiting({ begun: await ask(path, { public_key: key.publicKey, device }), key, device });
    named.current = device;
  };

  if (!isSecureContext) {
    return (
      <p class="notice">
        {words.insecure}{' '}
        {secureUrl !== null && (
          <a class="button small" href={secureUrl}>
            {texts.insecure.open}
          </a>
        )}
      </p>
    );
  }
  if (waiting !== null) {
    const { begun } = waiting;
    const address = begun.verification_uri_complete ?? begun.verification_uri;
    return (
      <div class="stack invitation" role="status">
        <p>{words.task({ device: waiting.device, address: location.host })}</p>
        <p class="sign-on-code">{begun.user_code}</p>
        <img class="address-code" src={qrPicture(address)} alt={words.code} />
        <a class="button primary" href={address} target="_blank" rel="noreferrer">
          {words.open}
        </a>
        <Button onClick={() => setWaiting(null)}>{texts.cancel}</Button>
      </div>
    );
  }
  return <DeviceForm value={named.current} fault={fault} submit={words.submit} onSubmit={start} />;
};
