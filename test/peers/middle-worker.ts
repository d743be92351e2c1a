/**
 * A host between all boxes. What a box sends to another one ends here: it is relayed, held, repeated, reordered, cut,
 * altered or answered with lies, and so are the announcements by multicast DNS.
 */
import { createSocket } from 'node:dgram';
import { createServer as createWebServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { Bonjour } from 'bonjour-service';

const addresses = process.argv.slice(2);
const gatewayTo = (index: number): string => `10.79.${index + 1}.1`;
const PORT = 8080;
/** Longer than what boxes relay is fresh. */
const MAX_HOLD_MS = 6_000;
/** Where this host answers as a box. */
const LIAR_PORT = 9_999;

let isHostile = false;
const said: Buffer[] = [];
const answers: Buffer[] = [];
/** How often each thing was done. */
const counts: Record<string, number> = {};
/** Repeated requests that a box has carried out, though they came late or were meant for another one. */
const believed: string[] = [];

const chance = (part: number): boolean => Math.random() < part;
const hold = (act: () => void): void => void setTimeout(act, Math.random() * MAX_HOLD_MS);
const count = (what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};
const oneOf = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)];
const altered = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  const at = Math.floor(Math.random() * copy.length);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
};

const response = (status: number, body: object): Buffer => {
  const text = JSON.stringify(body);
  return Buffer.from(
    `HTTP/1.1 ${status} OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
};
const lies = [
  response(200, { answers: [{ sent: 7 }] }),
  response(200, { sent: 7 }),
  response(200, { taken: true }),
  response(404, { error: { code: 'screen_not_found', message: 'lie' } }),
  response(404, { error: { code: 'not_found', message: 'lie' } }),
  response(401, { error: { code: 'signature_invalid', message: 'lie' } }),
  response(421, { error: { code: 'misdirected', message: 'lie' } }),
];

/** Sends a recorded request once more. @param mayCount whether the box may carry it out, if the first was not passed on */
const repeat = (bytes: Buffer, to: string, from: string, mayCount: boolean): void => {
  count('repeated');
  const socket = connect({ host: to, port: PORT, localAddress: from }, () => socket.write(bytes));
  socket.setTimeout(2_000, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.once('data', (data) => {
    const isPost = bytes.subarray(0, 4).toString() === 'POST';
    if (!mayCount && isPost && /^HTTP\/1.1 2/.test(String(data))) believed.push(String(bytes).split('\r\n')[0] ?? '');
    socket.destroy();
  });
};

/** Sends a request in two parts, the second one late, even where the asking box has given up meanwhile. */
const sendLate = (parts: [Buffer, Buffer], client: Socket, to: string, from: string): void => {
  const socket = connect({ host: to, port: PORT, localAddress: from }, () => {
    socket.write(parts[0]);
    hold(() => write(socket, parts[1]));
  });
  socket.setTimeout(2 * MAX_HOLD_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: Buffer) => onAnswer(data, client));
};

const write = (to: Socket, bytes: Buffer): void => void (to.destroyed || to.write(bytes));

const onRequest = (bytes: Buffer, client: Socket, server: Socket, from: string, to: string): void => {
  said.push(bytes);
  if (!isHostile) return write(server, bytes);
  const dice = Math.random();
  if (dice < 0.3) return write(server, bytes);
  if (dice < 0.5) {
    count('held');
    return sendLate([Buffer.alloc(0), bytes], client, to, from);
  }
  const body = bytes.indexOf('\r\n\r\n') + 4;
  if (dice < 0.65 && body > 4 && body < bytes.length) {
    count('body held');
    return sendLate([bytes.subarray(0, body), bytes.subarray(body)], client, to, from);
  }
  if (dice < 0.75) {
    write(server, bytes);
    repeat(bytes, to, from, true);
    const other = addresses.find((each) => each !== to && each !== from) ?? to;
    repeat(bytes, other, from, false);
    return void setTimeout(() => repeat(bytes, to, from, false), 3_300);
  }
  if (dice < 0.85) {
    count('cut');
    write(server, bytes.subarray(0, Math.floor(Math.random() * bytes.length)));
    return void client.destroy();
  }
  if (dice < 0.92) {
    count('altered');
    return write(server, altered(bytes));
  }
  count('lied to');
  write(client, (chance(0.3) ? oneOf(answers) : oneOf(lies)) ?? Buffer.alloc(0));
};

const onAnswer = (bytes: Buffer, client: Socket): void => {
  said.push(bytes);
  if (answers.length < 1_000) answers.push(bytes);
  if (!isHostile || chance(0.6)) return write(client, bytes);
  if (chance(0.5)) {
    count('answer held');
    return hold(() => write(client, bytes));
  }
  if (chance(0.5)) {
    count('answer cut');
    write(client, bytes.subarray(0, Math.floor(Math.random() * bytes.length)));
    return void client.destroy();
  }
  count('answer altered');
  write(client, altered(bytes));
};

const relay = createServer((client) => {
  const { localAddress = '', remoteAddress = '' } = client;
  const server = connect({ host: localAddress, port: PORT, localAddress: remoteAddress });
  client.on('data', (bytes: Buffer) => onRequest(bytes, client, server, remoteAddress, localAddress));
  server.on('data', (bytes: Buffer) => onAnswer(bytes, client));
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
});

/** Says that it is a box of the site. */
const liar = createWebServer((request, answer) => {
  const nodeId = '00000000-0000-4000-8000-000000000000';
  count(`asked for ${new URL(request.url ?? '', 'http://liar').pathname}`);
  answer.setHeader('Content-Type', 'application/json');
  answer.end(
    JSON.stringify({
      ...{ nodeId, instance: 'liar', site: 'default', version: '9.9.9', serverTime: Date.now(), peers: [] },
      ...{ content: { counter: 99, nodeId, sha256: '0'.repeat(64) }, bindings: '0'.repeat(64), media: '0'.repeat(64) },
      ...{ established: true, received: 0, sent: 0 },
    }),
  );
});

const GROUP = '224.0.0.251';
const MDNS = 5_353;

/** Passes the announcements of each box on to the others, in its name. */
const relayAnnouncements = (): void => {
  const inbox = createSocket({ type: 'udp4', reuseAddr: true });
  const outboxes = addresses.map((from, index) =>
    addresses.flatMap((_, to) => {
      if (to === index) return [];
      const socket = createSocket({ type: 'udp4', reuseAddr: true });
      socket.on('error', () => {});
      socket.bind(MDNS, from, () => {
        socket.setMulticastInterface(gatewayTo(to));
        socket.setMulticastLoopback(false);
        socket.setMulticastTTL(255);
      });
      return [socket];
    }),
  );
  inbox.on('message', (packet, { address }) => {
    for (const outbox of outboxes[addresses.indexOf(address)] ?? []) {
      const send = (bytes: Buffer): void => outbox.send(bytes, MDNS, GROUP, () => {});
      send(packet);
      if (chance(0.5)) send(altered(packet));
      if (isHostile) hold(() => send(packet));
    }
  });
  inbox.bind(MDNS, '0.0.0.0', () => {
    for (const index of addresses.keys()) inbox.addMembership(GROUP, gatewayTo(index));
  });
};

/** Announces itself as a box of the site. */
const announceLies = (): void => {
  for (const index of addresses.keys()) {
    const bonjour = new Bonjour({ interface: gatewayTo(index), bind: '0.0.0.0' } as object, () => {});
    const txt = { id: '00000000-0000-4000-8000-000000000000', site: 'default', v: '9.9.9' };
    bonjour.publish({ name: 'a lie', type: 'signage-player', port: LIAR_PORT, txt, probe: false });
  }
};

process.on('message', ({ hostile, contains }: { hostile?: boolean; contains?: string[] }) => {
  if (hostile !== undefined) isHostile = hostile;
  if (contains === undefined) return;
  const all = Buffer.concat(said).toString('latin1');
  process.send?.({ read: contains.filter((text) => all.includes(text)), counts, believed, bytes: all.length });
});

relay.listen(PORT, '0.0.0.0', () =>
  liar.listen(LIAR_PORT, '0.0.0.0', () => {
    relayAnnouncements();
    announceLies();
    process.send?.({ ready: true });
  }),
);
