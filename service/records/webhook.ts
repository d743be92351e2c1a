/** Posts messages to a receiver of the operator, signed as Standard Webhooks demand. */
import { hkdfSync } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { doubled } from '../domain/backoff.ts';

/** From connecting to the head of the answer. */
const TIMEOUT_MS = 5_000;
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

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

const reasonOf = (error: unknown): string => {
  if ((error as Error).name === 'TimeoutError') return `the receiver did not answer within ${TIMEOUT_MS / 1000} s`;
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
 * @param now ms since the epoch
 */
export const createSendWebhook = (address: string, key: Uint8Array | null, now: () => number): SendWebhook => {
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
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    }).catch((error: unknown) => {
      throw new Error(reasonOf(error));
    });
    await response.body?.cancel().catch(() => undefined);
    if (!response.ok) throw new Error(`the receiver answers ${response.status}`);
  };
};

/** The pause before the next attempt, ms: 1 s, doubling to 60 s, a fifth more or less. @param random of [0, 1) */
export const pauseAfter = (failures: number, random: number): number =>
  doubled(failures - 1, MIN_PAUSE_MS, MAX_PAUSE_MS) * (0.8 + 0.4 * random);
