/** Signatures and proofs that were changed by a bit or a character: none is taken, and a right one between them is. */
import { createPublicKey, hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { isJoinProof, isSignedBy, keyIdOf } from '../../service/auth/person-keys.ts';
import { signAsPerson } from '../../service/auth/sign.ts';
import { createSignatures, parseSignature, type SignedHead } from '../../service/auth/signatures.ts';
import { joinRequest } from '../../service/contract/console/people.ts';
import { joinInfo } from '../../service/domain/joining.ts';
import { signatureHeader, timestampHeader } from '../../service/domain/request-signature.ts';
import { createTestGuard } from '../auth/support.ts';
import { lobby } from '../content/samples.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { addPerson, invite, joinWith, makeKey, proofOf } from '../support/people.ts';
import { startTestService } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';

const characters = 'ABCXYZabcxyz0189-_=;. ';
const pick = (text: string): string => text[Math.floor(Math.random() * text.length)] ?? '';
/** Changes, inserts or leaves out one character. */
const mutated = (text: string): string => {
  const at = Math.floor(Math.random() * text.length);
  const kind = Math.floor(Math.random() * 3);
  return text.slice(0, at) + (kind === 2 ? '' : pick(characters)) + text.slice(kind === 1 ? at : at + 1);
};

const head: SignedHead = { method: 'POST', host: '10.0.0.5:8080', target: '/console/api/site?a=b' };

/** White space at the ends of a value is no part of it, an empty one is absent, and the case of a host does not count. */
const meaningOf = (headers: Record<string, string>, { method, host, target }: SignedHead): string => {
  const given = Object.entries(headers).map(([name, value]) => [name, value.trim()]);
  return JSON.stringify([given.filter(([, value]) => value !== '').toSorted(), method, host.toLowerCase(), target]);
};

test('mutated signatures at the verifying function', { timeout: isSoak ? 3_600_000 : 60_000 }, async () => {
  const count = isSoak ? 100_000 : 2_000;
  const key = makeKey();
  const signer = { keyId: key.keyId, id: 'maria', name: 'Maria', role: 'admin', tags: [] } as const;
  const keyring = {
    find: (id: string) => (id === key.keyId ? { publicKey: key.publicKey, signer, reason: '' } : null),
  };
  const now = Date.UTC(2026, 0, 1);
  const guard = createTestGuard({ now: () => now, monotonicNow: () => 0 });
  const signatures = createSignatures({ secrets: ['secret'], guard, keyring });
  const verify = async (headers: Record<string, string>, as: SignedHead): Promise<boolean> => {
    try {
      const lines = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
      await signatures.verify(parseSignature(lines), as, { sender: { kind: 'operator', name: 'a' }, isForThis: true });
      return true;
    } catch {
      return false;
    }
  };
  const sign = () =>
    signAsPerson(key, { ...head, body: '{}', now, recipient: 'node-1', headers: { 'If-Match': '"abc"' } });
  const covered = [
    'x-signage-operator',
    'if-match',
    'if-none-match',
    'x-signage-recipient',
    timestampHeader,
    signatureHeader,
  ];
  let accepted = 0;
  for (let index = 0; index < count; index += 1) {
    const signed = { ...(await sign()), 'if-match': '"abc"' } as Record<string, string>;
    const name = pickOf(covered);
    const as = { ...head };
    const before = meaningOf(signed, as);
    if (index % 4 === 0) {
      const part = pickOf(['method', 'host', 'target'] as const);
      as[part] = mutated(as[part]);
    } else signed[name] = mutated(signed[name] ?? 'x');
    if (meaningOf(signed, as) !== before && (await verify(signed, as))) accepted += 1;
  }
  expect(accepted).toBe(0);
  expect(await verify({ ...(await sign()), 'if-match': '"abc"' }, head)).toBe(true);
});
const pickOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

test('mutated proofs at the verifying function', { timeout: isSoak ? 3_600_000 : 60_000 }, () => {
  const code = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const key = new Uint8Array(hkdfSync('sha256', code, '', joinInfo, 32));
  const { publicKey } = makeKey();
  const right = { person: 'maria', public_key: publicKey, device: 'phone' };
  const proof = proofOf(code, 'maria', publicKey, 'phone');
  for (let index = 0; index < (isSoak ? 10_000 : 1_000); index += 1) {
    const given = { ...right, proof };
    const field = pickOf(['person', 'public_key', 'device', 'proof'] as const);
    given[field] = mutated(given[field]);
    // Of a text that is no hex the rest is not read.
    const isSame = JSON.stringify(given) === JSON.stringify({ ...right, proof });
    if (!isSame && (field !== 'proof' || joinRequest.safeParse(given).success)) {
      expect([field, given[field], isJoinProof(key, given)]).toEqual([field, given[field], false]);
    }
    if (index % 100 === 0) expect(isJoinProof(key, { ...right, proof })).toBe(true);
  }
});

test('the example of the documents', () => {
  // RFC 8032, 7.1, TEST 2.
  const x = Buffer.from('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', 'hex').toString(
    'base64url',
  );
  const signature = Buffer.from(
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    'hex',
  ).toString('base64url');
  expect(isSignedBy(x, 'r', signature)).toBe(true);
  expect(isSignedBy(x, 's', signature)).toBe(false);
  expect(keyIdOf(x)).toMatch(/^[0-9a-f]{32}$/);
  expect(createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }).type).toBe('public');
});

test('mutated signatures and proofs over HTTP', { timeout: 120_000 }, async () => {
  const count = isSoak ? 1_000 : 150;
  const box = await startTestService({ content: lobby, env: secretSettings(operatorSecret) });
  const { key, ask } = await addPerson(box, 'admin', { id: 'anna' });
  const url = `${box.url}/console/api/me`;
  const statusOf = async (headers: Record<string, string>): Promise<number> => {
    const response = await fetch(url, { headers }).catch(() => null);
    await response?.arrayBuffer();
    return response?.status ?? 0;
  };
  for (let index = 0; index < count; index += 1) {
    const headers = await signAsPerson(key, { method: 'GET', url, recipient: box.nodeId });
    const value = headers[signatureHeader] ?? '';
    const other = mutated(value).trim();
    if (other !== value) expect(await statusOf({ ...headers, [signatureHeader]: other })).not.toBe(200);
    if (index === count / 2) expect((await ask('GET', '/console/api/me')).status).toBe(200);
  }
  await createOperator(box, operatorSecret)('PUT', '/console/api/people/maria', { name: 'Maria', role: 'viewer' });
  const code = await invite(box, 'maria');
  const hers = makeKey();
  const proof = proofOf(code, 'maria', hers.publicKey, 'phone');
  for (let index = 0; index < count; index += 1) {
    const other = { person: 'maria', public_key: hers.publicKey, device: 'phone', proof };
    const field = pickOf(['person', 'public_key', 'device', 'proof'] as const);
    const before = other[field];
    other[field] = mutated(before);
    if (other[field].trim() === before) continue;
    const response = await fetch(`${box.url}/console/api/join`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(other),
    });
    expect([400, 403, 429]).toContain(response.status);
  }
  expect((await joinWith(box, code, 'maria', hers)).status).toBe(201);
});
