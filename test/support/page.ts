/** A page's side of the socket, by hand. */
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import type { OnEnd, TestService } from './service.ts';

type Message = Record<string, unknown>;

export interface TestPage {
  socket: WebSocket;
  /** Everything the service has said so far. */
  messages: Message[];
  /** The first message, said already or yet to come, that fits. */
  message(fits: (message: Message) => boolean): Promise<Message>;
  send(message: unknown): void;
  /** The close code, once the socket is closed. */
  closed: Promise<number>;
}

type SocketOptions = ClientOptions & { protocols?: string[]; onEnd?: OnEnd };

/** Opens a socket at a path; it ends with the test, unless `onEnd` puts that off. Rejects where it is refused. */
export const openSocket = async (
  { url }: Pick<TestService, 'url'>,
  path: string,
  options: SocketOptions = {},
): Promise<TestPage> => {
  const { protocols = ['signage.v1'], onEnd = onTestFinished, ...rest } = options;
  const socket = new WebSocket(url.replace('http', 'ws') + path, protocols, rest);
  onEnd(() => socket.terminate());
  const messages: Message[] = [];
  const arrivals = new EventTarget();
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)) as Message);
    arrivals.dispatchEvent(new Event('arrival'));
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await once(socket, 'open');
  return {
    socket,
    messages,
    closed,
    message: async (fits) => {
      for (;;) {
        const found = messages.find(fits);
        if (found !== undefined) return found;
        await new Promise((resolve) => arrivals.addEventListener('arrival', resolve, { once: true }));
      }
    },
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
  };
};

/** Opens a socket to a screen. */
export const openPage = (service: Pick<TestService, 'url'>, slug: string, options?: SocketOptions): Promise<TestPage> =>
  openSocket(service, `/api/screens/${slug}/socket`, options);

/** Opens a socket and says hello as a page would; resolves with the welcome. */
export const joinScreen = async (
  service: Pick<TestService, 'url'>,
  slug: string,
  hello: Message = {},
  options?: SocketOptions,
) => {
  const page = await openPage(service, slug, options);
  page.send({
    type: 'hello',
    clientId: 'client-1',
    deviceId: null,
    clientName: null,
    page: `/screen/${slug}`,
    viewport: { width: 1920, height: 1080, devicePixelRatio: 1 },
    ...hello,
  });
  const welcome = await page.message(({ type }) => type === 'welcome');
  return { ...page, welcome, connectionId: String(welcome.connectionId) };
};

/** The subprotocols of a player page: with a secret also the token that the page is served with. */
export const protocolsOf = async (
  { url }: Pick<TestService, 'url'>,
  slug: string,
  secret: string | null,
): Promise<string[]> => {
  if (secret === null) return ['signage.v1'];
  const html = await (await fetch(`${url}/screen/${slug}`)).text();
  return ['signage.v1', `token.${/"token":"([^"]+)"/.exec(html)?.[1] ?? ''}`];
};
