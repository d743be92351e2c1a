/** The steps by which a person goes on at the secure address of the console: with a key that is made there. */
import { useEffect } from 'preact/hooks';
import type { Me } from '../../service/contract/console/people.ts';
import type { Handover } from '../../service/domain/joining.ts';
import { keepPersonKey, keyIdOf, makeKey, pendingKey, signerOf } from './api/person-key.ts';
import { useConsole } from './ui/context.tsx';
import { Dialog } from './ui/controls.tsx';
import { DeviceForm } from './ui/device-form.tsx';

/** At the http page: adds the key of the secure page with the one that is here. */
const Add = ({ publicKey }: { publicKey: string }) => {
  const { session, client, texts, announcer, secureUrl } = useConsole();
  const words = texts.handover;
  const key = session.credential.value;

  const add = async (device: string): Promise<void> => {
    if (key === null || typeof key === 'string') return;
    // From here on requests are sent.
    session.decline();
    try {
      const { person } = await client.json<Me>('/console/api/me');
      const body = { public_key: publicKey, device };
      await client.json(`/console/api/people/${person?.id}/keys`, { method: 'POST', body });
      location.href = `${secureUrl}#added=${key.keyId}`;
    } catch (error) {
      announcer.report(error);
    }
  };

  if (key === null || typeof key === 'string' || secureUrl === null) {
    return (
      <Dialog title={words.title} onClose={session.decline}>
        <p class="notice warning">{words.noKey}</p>
      </Dialog>
    );
  }
  return (
    <Dialog title={words.title}>
      <DeviceForm submit={words.submit} onSubmit={add} onDecline={session.decline}>
        <p class="soft">{words.task({ name: key.name })}</p>
        <p>
          {words.fingerprint} <code>{keyIdOf(publicKey).replace(/.{4}(?=.)/g, '$& ')}</code>
        </p>
      </DeviceForm>
    </Dialog>
  );
};

export const HandoverPage = ({ handover }: { handover: Handover }) => {
  const { session, client, texts, announcer, plainUrl } = useConsole();
  const words = texts.handover;

  /** At the secure page: makes its key, and goes back. */
  const make = async (): Promise<void> => {
    if (session.credential.value !== null || plainUrl === null || !isSecureContext) return session.decline();
    try {
      const key = await makeKey();
      await pendingKey.keep(key);
      location.replace(`${plainUrl}#add=${key.publicKey}`);
    } catch {
      session.decline();
      announcer.complain(words.notStored);
    }
  };

  /** At the secure page: signs with its key from now on, and removes the one of the http page. */
  const take = async (keyId: string): Promise<void> => {
    const key = await pendingKey.read();
    // It takes nobody's place.
    if (key === null || session.credential.value !== null) return session.decline();
    session.joined(signerOf({ ...key, name: '' }));
    try {
      const { person } = await client.json<Me>('/console/api/me');
      if (person === null) return;
      session.joined(await keepPersonKey(key, person.name, person.id));
      await pendingKey.forget();
      await client.json(`/console/api/people/${person.id}/keys/${keyId}`, { method: 'DELETE' });
      announcer.say(words.done({ name: person.name }));
    } catch (error) {
      // Loading the page once more tries it again.
      if ((await pendingKey.read()) !== null) history.replaceState(null, '', `#added=${keyId}`);
      announcer.report(error);
    }
  };

  useEffect(() => {
    if (handover.step === 'device') void make();
    else if (handover.step === 'added') void take(handover.keyId);
  }, [handover]);
  return handover.step === 'add' ? <Add publicKey={handover.publicKey} /> : null;
};
