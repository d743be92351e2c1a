/** Posts messages to a receiver of the operator, signed as Standard Webhooks demand. */
import { hkdfSync } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { doubled } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import type { Tempo } from '../tempo.ts';

/** A message. It has the same id each time it is sent, by which the receiver knows a repeat. */
export interface WebhookMessage {
  id: string;
  /** JSON */
  body: string;
}

/** Sends one message. @throws Error whose message is a clause: "the receiver answers 500" */
export type SendWebhook = (message: WebhookMessage, signal: AbortSignal) => Promise<void>;

/**
 * The key of the signatures; null: messages are not signed.
 * @param webhookSecret `whsec_` and base64
 */
export const webhookKey = (webhookSecret: string | null, sharedSecret: string | null): Uint8Array | null => {
  if (webhookSecret !== null) return Buffer.from(webhookSecret.replace(/^whsec_/, ''), 'base64');
  if (sharedSecret === null) return null;
  return new Uint8Array(hkdfSync('sha256', sharedSecret, '', 'signage-webhook-v1', 32));
};

const reasonOf = (error: unknown, answerMs: number): string => {
  if ((error as Error).name === 'TimeoutError') return `the receiver did not answer within ${answerMs / 1000} s`;
  const { cause } = error as { cause?: { code?: string } };
  return `the receiver cannot be reached (${cause?.code ?? (error as Error).message})`;
};

/** The address without its user and password, which `fetch` refuses, and the header that carries them. */
const splitAddress = (address: string) => {
  const url = new URL(address);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  if (username === '' && password === '') return { url, credentials: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url, credentials: { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
};

/**
 * @param address of the receiver; may have a user and a password, which are sent as Basic authentication
 * @param key of the signatures; null: none
 */
export const createSendWebhook = (
  { now, tempo }: Pick<ServiceContext, 'now' | 'tempo'>,
  address: string,
  key: Uint8Array | null,
): SendWebhook => {
  const webhook = key === null ? null : new Webhook(key, { format: 'raw' });
  const { url, credentials } = splitAddress(address);
  return async ({ id, body }, signal) => {
    const at = new Date(now());
    const headers = {
      'Content-Type': 'application/json',
      ...credentials,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      ...(webhook && { 'webhook-signature': webhook.sign(id, at, body) }),
    };
    // A redirect is not followed: it could lead messages to a host that the operator did not name.
    const options = { method: 'POST', headers, body, redirect: 'manual' } as const;
    const response = await fetch(url, {
      ...options,
      signal: AbortSignal.any([signal, AbortSignal.timeout(tempo.records.answer)]),
    }).catch((error: unknown) => {
      throw new Error(reasonOf(error, tempo.records.answer));
    });
    await response.body?.cancel().catch(() => undefined);
    if (!response.ok) throw new Error(`the receiver answers ${response.status}`);
  };
};

/** The pause before the next attempt, ms: doubling, a fifth more or less. @param random of [0, 1) */
export const pauseAfter = (
  { retry, maxRetry }: Pick<Tempo['records'], 'retry' | 'maxRetry'>,
  failures: number,
  random: number,
): number => doubled(failures - 1, retry, maxRetry) * (0.8 + 0.4 * random);
