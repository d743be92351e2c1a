/** Joins the site with an invitation: this browser gets a key of its own. */
import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { joinInfo, joinText } from '../../service/domain/joining.ts';
import { createPageSigning } from '../shared/page-signing.ts';
import type { Client } from './api/client.ts';
import { answerOf, isCode, Unproven } from './api/errors.ts';
import { joiningKey, keepPersonKey, makeKey, type PersonKey, signerOf } from './api/person-key.ts';

import type { Invitation } from './api/session.ts';
import { useConsole } from './ui/context.tsx';
import { Dialog } from './ui/controls.tsx';
import { DeviceForm } from './ui/device-form.tsx';

interface Joined {
  person: { name: string };
}

/** @throws Refusal, Unproven, Unreachable */
const join = async (client: Client, { person, code }: Invitation, device: string): Promise<PersonKey> => {
  const proofKey = hkdf(sha256, utf8ToBytes(code), undefined, utf8ToBytes(joinInfo), 32);
  const proofOf = (publicKey: string, name: string): string =>
    bytesToHex(hmac(sha256, proofKey, utf8ToBytes(joinText(person, publicKey, name))));
  // Where an answer was lost, the box knows the key that was sent.
  const before = await joiningKey.read();
  const sent = before !== null && before.proof === proofOf(before.publicKey, before.device) ? before : null;
  const key = sent ?? (await makeKey());
  const proof = proofOf(key.publicKey, device);
  await joiningKey.keep({ ...key, device, proof }).catch(() => undefined);
  const keep = async (name: string): Promise<PersonKey> => {
    const kept = await keepPersonKey(key, name, person);
    await joiningKey.forget();
    return kept;
  };
  const asking = fetch('/console/api/join', {
    method: 'POST',
    cache: 'no-store',
    headers: { 'Content-Type': 'application/json', 'x-signage-page': '1' },
    body: JSON.stringify({ person, public_key: key.publicKey, device, proof }),
  });
  const response = await answerOf(asking).catch((error: unknown) => error);
  if (isCode(response, 'invitation_invalid')) {
    const owner = sent === null ? null : await client.ownerOf(signerOf({ ...sent, name: '' }));
    if (owner?.id === person) return keep(owner.name);
    await joiningKey.forget();
  }
  if (!(response instanceof Response)) throw response;
  const bytes = new Uint8Array(await response.clone().arrayBuffer());
  const asked = { request: proof, status: response.status, sha256: bytesToHex(sha256(bytes)) };
  const headerOf = (name: string): string | null => response.headers.get(name);
  if (createPageSigning().provenTime(proofKey, { ...asked, headerOf }) === null) {
    throw new Unproven('The answer is not proven.');
  }
  const { person: joined } = (await response.json()) as Joined;
  return keep(joined.name);
};

export const Join = ({ invitation }: { invitation: Invitation }) => {
  const { client, session, texts, announcer } = useConsole();
  const words = texts.join;
  const known = session.person.value;

  const decline = (): void => {
    void joiningKey.forget();
    session.decline();
  };
  const submit = async (device: string): Promise<void> => {
    const key = await join(client, invitation, device);
    session.joined(key);
    announcer.say(words.done({ name: key.name }));
  };

  return (
    <Dialog title={words.title}>
      <DeviceForm submit={words.submit} onSubmit={submit} onDecline={decline}>
        <p class="soft">{words.task({ id: invitation.person })}</p>
        {known !== null && <p class="notice warning">{words.replaces({ name: known })}</p>}
        {!isSecureContext && <p class="notice warning">{words.open}</p>}
      </DeviceForm>
    </Dialog>
  );
};
