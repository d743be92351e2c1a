/** The connection to the broker: one client that connects again by itself, and reads no more than it can use. */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectSecurely, rootCertificates } from 'node:tls';
// Its other parts, such as those for WebSockets, are eight times as large.
import client from 'mqtt/lib/client';
import type { ServiceContext } from '../module.ts';
import { boundedPackets } from './bounded.ts';

/** Of a packet. A command has 4 KiB at most, and a configuration of ours less than 4 KiB, with its topic. */
const MAX_PACKET_BYTES = 8 * 1024;
const KEEPALIVE_S = 15;
/** Bytes that wait for a broker that does not read, before no more is published. */
const MAX_WAITING_BYTES = 1024 ** 2;

/** CommonJS: Node.js gives out the exports, others the default one among them. */
const MqttClient = (client as { default?: typeof client }).default ?? client;

export interface Message {
  topic: string;
  payload: Buffer;
  /** Whether the broker has kept it from before. */
  isRetained: boolean;
}

export type Broker = ReturnType<typeof connectBroker>;

interface Setup {
  url: URL;
  clientId: string;
  /** Retained, and published by the broker when this client is gone. */
  will: { topic: string; payload: string };
  subscriptions: readonly string[];
  onConnect(): void;
  onMessage(message: Message): void;
}

const reasonOf = ({ code, message }: Error & { code?: string | number }): string => {
  if (code === 4 || code === 5) return 'refuses user or password';
  return `does not answer (${typeof code === 'string' ? code : message})`;
};

/** For how long the last message may take at the end. */
const LEAVE_MS = 1_000;

export const connectBroker = (
  { tempo, outbound: { roots }, logs }: Pick<ServiceContext, 'tempo' | 'outbound' | 'logs'>,
  { url, clientId, will, subscriptions, onConnect, onMessage }: Setup,
) => {
  const log = logs('mqtt', { broker: url.host });
  let reason: string | null = null;
  const note = (error: Error & { code?: string | number }): void => {
    // The stream is ended after a refusal, too.
    if (error.code === 'ABORT_ERR') return;
    const next = reasonOf(error);
    if (next !== reason) log.warn({ reason: next }, 'there is no connection to the broker');
    reason = next;
  };

  let stream: Duplex | undefined;
  const open = (): Duplex => {
    const isSecure = url.protocol === 'mqtts:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = Number(url.port) || (isSecure ? 8883 : 1883);
    const socket: Socket = isSecure
      ? connectSecurely({
          host,
          port,
          ...(isIP(host) === 0 && { servername: host }),
          ...(roots !== null && { ca: [...rootCertificates, roots] }),
        })
      : connectPlain({ host, port });
    socket.on('error', note);
    const bounded = boundedPackets(MAX_PACKET_BYTES, (bytes) =>
      log.warn({ bytes }, 'a message of the broker is too large'),
    );
    bounded.on('error', (error) => {
      note(error);
      socket.destroy();
    });
    const both = Duplex.from({ readable: socket.pipe(bounded), writable: socket });
    both.on('error', () => undefined);
    socket.on('close', () => both.destroy());
    both.on('close', () => socket.destroy());
    stream = both;
    return both;
  };

  const line = new MqttClient(open, {
    clientId,
    protocolVersion: 4,
    clean: true,
    keepalive: KEEPALIVE_S,
    reconnectPeriod: tempo.mqtt.reconnect,
    connectTimeout: tempo.mqtt.connect,
    reconnectOnConnackError: true,
    queueQoSZero: false,
    resubscribe: false,
    ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
    ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
    will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true },
  });
  line.on('error', note);
  line.on('close', () => {
    reason ??= 'has closed the connection';
  });
  line.on('connect', () => {
    reason = null;
    log.info({}, 'connected to the broker');
    line.subscribe([...subscriptions], { qos: 0 }, (error) => {
      if (error) note(error);
    });
    onConnect();
  });
  line.on('message', (topic, payload, { retain }) => onMessage({ topic, payload, isRetained: retain }));

  return {
    /** Whether it is connected, and the broker reads what was published. */
    isReady: (): boolean => line.connected && (stream?.writableLength ?? 0) <= MAX_WAITING_BYTES,
    /** Why there is no connection, as a clause of which the broker is the subject; null: there is one, or there was no attempt yet. */
    reason: (): string | null => (line.connected ? null : reason),
    /** Publishes at most once; without a connection nothing happens. */
    publish: (topic: string, payload: string | Uint8Array, isRetained = true): void => {
      if (line.connected) line.publish(topic, Buffer.from(payload), { qos: 0, retain: isRetained });
    },
    /** Leaves; the will is sent only if the broker does not read. @param last what is published before */
    close: async (last?: { topic: string; payload: string; isRetained: boolean }): Promise<void> => {
      let isTaken = (stream?.writableLength ?? 0) === 0;
      if (last !== undefined && line.connected) {
        isTaken = await new Promise<boolean>((resolve) => {
          const timer = setTimeout(resolve, LEAVE_MS, false);
          line.publish(last.topic, last.payload, { qos: 1, retain: last.isRetained }, () => {
            clearTimeout(timer);
            resolve(true);
          });
        });
      }
      // The client waits for ever for a broker that does not read.
      await line.endAsync(!line.connected || !isTaken).catch(() => undefined);
    },
  };
};
