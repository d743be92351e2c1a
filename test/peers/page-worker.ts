/** A page of the box on this host, and an operator there. Reports the commands that the page hears. */
import { WebSocket } from 'ws';
import { signRequest } from '../../service/auth/sign.ts';

const [secret = ''] = process.argv.slice(2);
const base = 'http://127.0.0.1:8080';
const sign = (method: string, path: string, body = ''): Record<string, string> =>
  signRequest({ secret, method, url: base + path, body });

const socketPath = '/api/screens/lobby/socket';
const socket = new WebSocket(base.replace('http', 'ws') + socketPath, ['signage.v1'], {
  headers: sign('GET', socketPath),
});
socket.on('open', () => {
  const viewport = { width: 1920, height: 1080, devicePixelRatio: 1 };
  const client = { clientId: 'client-1', deviceId: null, clientName: null };
  socket.send(JSON.stringify({ type: 'hello', ...client, page: '/screen/lobby', viewport }));
});
socket.on('message', (data) => {
  const { type, url } = JSON.parse(String(data));
  if (type === 'welcome') process.send?.({ ready: true });
  if (type === 'command') process.send?.({ heard: String(url), at: Date.now() });
});

process.on('message', async ({ id, path, body }: { id: number; path: string; body?: object }) => {
  const text = body === undefined ? '' : JSON.stringify(body);
  const method = body === undefined ? 'GET' : 'POST';
  const at = Date.now();
  const response = await fetch(base + path, {
    method,
    headers: { 'Content-Type': 'application/json', ...sign(method, path, text) },
    ...(body === undefined ? {} : { body: text }),
  });
  process.send?.({ id, at, status: response.status, answer: await response.json() });
});
