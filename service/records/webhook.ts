/** Posts messages to a receiver of the operator, signed as Standard Webhooks demand. */
import { hkdfSync } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { doubled } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { FetchFault } from '../platform/outbound/answer.ts';
import { codeOf } from '../platform/store/disk.ts';
import type { Tempo } from '../tempo.ts';

/** A message. It has the same id each time it is sent, by which the receiver knows a repeat. */
export interface WebhookMessage {
  id: string;
  /** JSON */
  body: string;
}

/** Sends one message. @throws Error whose message is a clause: "the receiver answers 500", with the status as its cause */
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
  const { name, message } = error as Error;
  if (name === 'TimeoutError' || name === 'AbortError')
    return `the receiver did not answer within ${answerMs / 1000} s`;
  if (error instanceof FetchFault) return `the receiver cannot be reached: ${message}`;
  return `the receiver cannot be reached (${codeOf(error) ?? message})`;
};

/**
 * @param address of the receiver; may have a user and a password, which are sent as Basic authentication
 * @param key of the signatures; null: none
 */
export const createSendWebhook = (
  { now, tempo, outbound }: Pick<ServiceContext, 'now' | 'tempo' | 'outbound'>,
  address: string,
  key: Uint8Array | null,
): SendWebhook => {
  const webhook = key === null ? null : new Webhook(key, { format: 'raw' });
  const url = new URL(address);
  return async ({ id, body }, signal) => {
    const at = new Date(now());
    const headers = {
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      ...(webhook && { 'webhook-signature': webhook.sign(id, at, body) }),
    };
    const answerMs = tempo.records.answer;
    // A redirect is not followed: it could lead messages to a host that the operator did not name.
    const response = await outbound
      .send(url, { method: 'POST', headers, body, answerMs, signal })
      .catch((error: unknown) => {
        throw new Error(reasonOf(error, answerMs));
      });
    response.destroy();
    const { statusCode = 0 } = response;
    if (statusCode < 200 || statusCode > 299)
      throw new Error(`the receiver answers ${statusCode}`, { cause: statusCode });
  };
};

/** The pause before the next attempt, ms: doubling, a fifth more or less. @param random of [0, 1) */
export const pauseAfter = (
  { retry, maxRetry }: Pick<Tempo['records'], 'retry' | 'maxRetry'>,
  failures: number,
  random: number,
): number => doubled(failures - 1, retry, maxRetry) * (0.8 + 0.4 * random);
