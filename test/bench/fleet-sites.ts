/** Many sites as light clients of one hub: they speak NATS by hand, on the subjects of real boxes. */
import { connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { keyOf } from '../../service/cli/fleet/keys.ts';
import {
  CONTENT_BUCKET,
  keySubject,
  reachOf,
  SITE_API,
  STATUS_BUCKET,
  statusKey,
  streamOf,
  wantedSubject,
} from '../../service/domain/fleet-subjects.ts';
import { pauseAfter } from '../../service/fleet/connection.ts';
import type { UserCredentials } from '../../service/platform/nats.ts';

const hello = {
  verbose: false,
  pedantic: false,
  headers: true,
  no_responders: true,
  lang: 'bench',
  version: '1',
  protocol: 1,
};

/** As a box does. */
const PING_MS = 30_000;
const ANNOUNCED_MS = 50;

export interface LightSite {
  /** Bytes of the protocol, both ways, without those of TCP. */
  bytes: number;
  isConnected: boolean;
  /** When it was connected last, by `performance.now()`. */
  connectedAt: number;
  /** When it got its newest content. */
  contentAt: number;
  /** Writes its status, as a box does each minute. */
  writeStatus(): void;
  close(): void;
}

/** Keeps a connection as a box does: it comes back after the pauses of a box. */
export const openSite = (port: number, site: string, { jwt, seed }: UserCredentials, spread = 5_000): LightSite => {
  const inbox = `_INBOX.${site}`;
  const contentKey = keySubject(CONTENT_BUCKET, site);
  const subscriptions = [...reachOf(site).streams, `${inbox}.>`];
  const key = keyOf(seed);
  const status = JSON.stringify({
    ...{ nodeId: '6f1c550b-9d3c-4e5f-8f4a-869d372b1c0a', site, name: 'box', url: 'http://192.168.1.20:8080' },
    ...{ version: '0.1.0', status: 'ok', warnings: [], connections: 2 },
    ...{ startedAt: new Date().toISOString(), at: new Date().toISOString() },
  });
  let socket: Socket;
  let failures = 0;
  let isClosed = false;
  let received = Buffer.alloc(0);

  const send = (text: string): void => {
    self.bytes += Buffer.byteLength(text);
    socket.write(text);
  };
  let announced: NodeJS.Timeout | undefined;
  const readSoon = (): void => {
    clearTimeout(announced);
    announced = setTimeout(readContent, ANNOUNCED_MS);
  };
  const readContent = (): void =>
    send(`PUB ${SITE_API}.DIRECT.GET.${streamOf(CONTENT_BUCKET)}.${contentKey} ${inbox}.content 0\r\n\r\n`);

  const onMessage = (subject: string, headerBytes: number, payload: Buffer): void => {
    if (subject === wantedSubject(site)) readSoon();
    else if (subject === `${inbox}.content` && payload.length > headerBytes) {
      gunzipSync(payload.subarray(headerBytes));
      self.contentAt = performance.now();
    }
  };

  /** @param nonce absent: the server tells something new about itself */
  const greet = (nonce: string | undefined): void => {
    if (nonce === undefined || self.isConnected) return;
    const sig = key.sign(nonce).toString('base64url');
    send(`CONNECT ${JSON.stringify({ ...hello, name: site, jwt, nkey: key.publicKey, sig })}\r\n`);
    for (const [id, subject] of subscriptions.entries()) {
      send(`SUB ${subject}${subject.endsWith('.*') ? ` ${site}` : ''} ${id + 1}\r\n`);
    }
    readContent();
    self.writeStatus();
    send('PING\r\n');
  };

  /** Takes whole protocol messages off what was received. */
  const parse = (): void => {
    for (;;) {
      const end = received.indexOf('\r\n');
      if (end < 0) return;
      const words = received.toString('latin1', 0, end).split(' ');
      const [verb, subject = ''] = words;
      let next = end + 2;
      if (verb === 'MSG' || verb === 'HMSG') {
        const total = Number(words.at(-1));
        if (received.length < next + total + 2) return;
        const headerBytes = verb === 'HMSG' ? Number(words.at(-2)) : 0;
        onMessage(subject, headerBytes, received.subarray(next, next + total));
        next += total + 2;
      } else if (verb === 'INFO') greet((JSON.parse(received.toString('utf8', 5, end)) as { nonce?: string }).nonce);
      else if (verb === 'PING') send('PONG\r\n');
      else if (verb === 'PONG') {
        if (!self.isConnected) self.connectedAt = performance.now();
        self.isConnected = true;
        failures = 0;
      }
      received = received.subarray(next);
    }
  };

  const open = (): void => {
    if (isClosed) return;
    received = Buffer.alloc(0);
    socket = connect(port, '127.0.0.1');
    socket.on('data', (data) => {
      self.bytes += data.length;
      received = received.length === 0 ? data : Buffer.concat([received, data]);
      parse();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      self.isConnected = false;
      setTimeout(open, pauseAfter(failures, Math.random()));
      failures += 1;
    });
  };

  const self: LightSite = {
    ...{ bytes: 0, isConnected: false, connectedAt: 0, contentAt: 0 },
    writeStatus: () => {
      if (!socket.writable) return;
      const subject = keySubject(STATUS_BUCKET, statusKey(site, '6f1c550b-9d3c-4e5f-8f4a-869d372b1c0a'));
      send(`PUB ${SITE_API}.${subject} ${inbox}.status ${status.length}\r\n${status}\r\n`);
    },
    close: () => {
      isClosed = true;
      clearInterval(pings);
      socket.destroy();
    },
  };
  const pings = setInterval(() => self.isConnected && send('PING\r\n'), PING_MS);
  // Sites do not come up at the same moment either.
  setTimeout(open, Math.random() * spread);
  return self;
};
