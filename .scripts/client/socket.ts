/** The socket of a page: commands to a screen, and what the page reports. */

/** A message of the box, as `asyncapi.yaml` describes it. */
export interface BoxMessage {
  type: string;
  [field: string]: unknown;
}

export interface SocketOptions {
  /** Base URL of the box. */
  url: string;
  /** Slug of the screen. */
  screen: string;
  /** Kept by the page, and the same across connections. */
  clientId: string;
  deviceId?: string | null;
  clientName?: string | null;
  /** Of the page; default: that which the box gives out with the page of the screen. */
  token?: string | null;
  onMessage(message: BoxMessage): void;
  onClose?(code: number): void;
}

/** The token that the page of a screen is served with; null: the box needs none. */
const pageToken = async (base: string, screen: string): Promise<string | null> => {
  const html = await (await fetch(`${base}/screen/${encodeURIComponent(screen)}`)).text();
  const [, json = '{}'] = /<script type="application\/json" id="boot">([^<]*)<\/script>/.exec(html) ?? [];
  const { pageToken: given } = JSON.parse(json) as { pageToken?: { token?: string | null } | null };
  return given?.token ?? null;
};

/** Opens the socket of a screen, and says hello. Resolves once the box has welcomed the page. */
export const openSocket = async (options: SocketOptions) => {
  const { url, screen, clientId, deviceId = null, clientName = null, onMessage, onClose } = options;
  const base = url.replace(/\/+$/, '');
  const token = options.token === undefined ? await pageToken(base, screen) : options.token;
  const path = `${base.replace(/^http/, 'ws')}/api/screens/${encodeURIComponent(screen)}/socket`;
  const socket = new WebSocket(path, ['signage.v1', ...(token === null ? [] : [`token.${token}`])]);
  const send = (message: BoxMessage): void => socket.send(JSON.stringify(message));
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () =>
      send({ type: 'hello', clientId, deviceId, clientName, page: `/screen/${screen}`, viewport: null }),
    );
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as BoxMessage;
      if (message.type === 'welcome') resolve();
      onMessage(message);
    });
    socket.addEventListener('close', ({ code }) => {
      reject(new Error(`The box closed the socket (${code}).`));
      onClose?.(code);
    });
  });
  return {
    /** Sends a message, such as `{ type: 'state', ... }`. */
    send,
    close: (): void => socket.close(),
  };
};
