/**
 * The scripts that the mock puts into a page before the page's own. The preload script runs in an isolated world, as with
 * context isolation; the worlds share nothing but events with strings, so whatever crosses is copied.
 */

/** The isolated world of preload scripts. */
export const preloadWorld = 'Electron Isolated Context';

/** The bindings by which a page calls the mock: of the isolated world, and of the page's own. */
export const preloadBinding = '__electronIpc';
export const pageBinding = '__electronPage';

/** The function of each world by which the mock calls a page. */
export const callback = '__electronReceive';

/**
 * Copies values as the structured clone algorithm does, as JSON with tags. Functions, symbols and objects of the browser
 * cannot be copied.
 */
export const cloneSource = `
  const failure = () => new Error('An object could not be cloned.');
  const encode = (value) => {
    if (value === undefined) return ['u'];
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return ['v', value];
    if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? ['v', value] : ['n', String(Object.is(value, -0) ? '-0' : value)];
    if (typeof value === 'bigint') return ['b', String(value)];
    if (typeof value !== 'object') throw failure();
    if (Array.isArray(value)) return ['a', value.map(encode)];
    if (value instanceof Date) return ['d', value.getTime()];
    if (value instanceof Map) return ['m', [...value].map((entry) => entry.map(encode))];
    if (value instanceof Set) return ['s', [...value].map(encode)];
    if (value instanceof Error) return ['e', value.name, value.message];
    if (ArrayBuffer.isView(value)) return ['y', Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))];
    const tag = Object.prototype.toString.call(value);
    if (tag !== '[object Object]') throw failure();
    return ['o', Object.entries(value).map(([key, each]) => [key, encode(each)])];
  };
  const decode = ([tag, value, message]) => {
    switch (tag) {
      case 'u': return undefined;
      case 'n': return Number(value);
      case 'b': return BigInt(value);
      case 'a': return value.map(decode);
      case 'd': return new Date(value);
      case 'm': return new Map(value.map((entry) => entry.map(decode)));
      case 's': return new Set(value.map(decode));
      case 'e': return Object.assign(new Error(message), { name: value });
      case 'y': return new Uint8Array(value);
      case 'o': return Object.fromEntries(value.map(([key, each]) => [key, decode(each)]));
      default: return value;
    }
  };
`;

/** The page's own world: the other half of `contextBridge`, and frames only while the page is painted. */
const pageSource = (secret: string, opens: boolean): string => `
  const send = globalThis.${pageBinding};
  delete globalThis.${pageBinding};
  ${opens ? '' : 'globalThis.open = () => null;'}
  if (send === undefined || globalThis !== globalThis.top) return;
  ${cloneSource}
  const calls = new Map();
  let lastCall = 0;
  const ask = (message) => dispatchEvent(new CustomEvent('${secret}-call', { detail: JSON.stringify(message) }));
  addEventListener('${secret}-expose', ({ detail }) => {
    const { name, functions, values } = JSON.parse(detail);
    const api = decode(values);
    for (const key of functions) api[key] = (...args) => {
      lastCall += 1;
      const id = lastCall;
      let settle = {};
      const promise = new Promise((resolve, reject) => { settle = { resolve, reject }; });
      calls.set(id, settle);
      ask({ id, name, key, args: encode(args) });
      if (settle.answer === undefined) return promise;
      const { error, result } = settle.answer;
      if (error !== undefined) throw decode(error);
      return decode(result);
    };
    Object.defineProperty(globalThis, name, { value: Object.freeze(api), enumerable: true });
  });
  addEventListener('${secret}-answer', ({ detail }) => {
    const { id, isLater, error, result } = JSON.parse(detail);
    const settle = calls.get(id);
    calls.delete(id);
    if (!isLater) settle.answer = { error, result };
    else if (error !== undefined) settle.reject(decode(error));
    else settle.resolve(decode(result));
  });

  // An animation frame comes only while the view is painted.
  const request = globalThis.requestAnimationFrame.bind(globalThis);
  const cancel = globalThis.cancelAnimationFrame.bind(globalThis);
  let isPainted = false;
  let lastFrame = 2 ** 30;
  const held = new Map();
  const running = new Map();
  const start = (id, act) => running.set(id, request((time) => {
    running.delete(id);
    if (isPainted) act(time);
    else held.set(id, act);
  }));
  globalThis.requestAnimationFrame = (act) => {
    lastFrame += 1;
    if (isPainted) start(lastFrame, act);
    else held.set(lastFrame, act);
    return lastFrame;
  };
  globalThis.cancelAnimationFrame = (id) => {
    held.delete(id);
    if (running.has(id)) cancel(running.get(id));
    running.delete(id);
  };
  Object.defineProperty(globalThis, '${callback}', { value: ({ painted }) => {
    isPainted = painted;
    if (!painted) return;
    for (const [id, act] of held) start(id, act);
    held.clear();
  } });
  send('');
`;

/** The isolated world: the `electron` module of preload scripts, and the script itself. */
const preloadSource = (secret: string, preload: string): string => `
  const send = globalThis.${preloadBinding};
  delete globalThis.${preloadBinding};
  if (send === undefined || globalThis !== globalThis.top) return;
  ${cloneSource}
  const calls = new Map();
  let lastCall = 0;
  Object.defineProperty(globalThis, '${callback}', { value: ({ reply, error, result }) => {
    if (error === undefined) calls.get(reply)?.resolve(decode(result));
    else calls.get(reply)?.reject(new Error(error));
    calls.delete(reply);
  } });
  const exposed = new Map();
  const electron = {
    contextBridge: {
      exposeInMainWorld: (name, api) => {
        if (exposed.has(name)) throw new Error('Cannot bind an API on top of an existing property on the window object');
        exposed.set(name, api);
        const entries = Object.entries(api);
        const functions = entries.filter(([, value]) => typeof value === 'function').map(([key]) => key);
        const values = encode(Object.fromEntries(entries.filter(([, value]) => typeof value !== 'function')));
        dispatchEvent(new CustomEvent('${secret}-expose', { detail: JSON.stringify({ name, functions, values }) }));
      },
    },
    ipcRenderer: {
      send: (channel, ...args) => send(JSON.stringify({ channel, args: encode(args) })),
      invoke: (channel, ...args) => {
        const message = { channel, args: encode(args), call: lastCall + 1 };
        return new Promise((resolve, reject) => {
          lastCall += 1;
          calls.set(lastCall, { resolve, reject });
          send(JSON.stringify(message));
        });
      },
    },
  };
  addEventListener('${secret}-call', ({ detail }) => {
    const { id, name, key, args } = JSON.parse(detail);
    const answer = (isLater, body) => dispatchEvent(new CustomEvent('${secret}-answer', { detail: JSON.stringify({ id, isLater, ...body }) }));
    const settle = (isLater, act) => {
      let body;
      try {
        body = { result: encode(act()) };
      } catch (error) {
        body = { error: encode(error) };
      }
      answer(isLater, body);
    };
    let result;
    try {
      result = exposed.get(name)[key](...decode(args));
    } catch (error) {
      return settle(false, () => { throw error; });
    }
    if (!(result instanceof Promise)) return settle(false, () => result);
    result.then((value) => settle(true, () => value), (error) => settle(true, () => { throw error; }));
  });
  const require = (name) => {
    if (name === 'electron') return electron;
    throw new Error('module not found: ' + name);
  };
  const module = { exports: {} };
  const exports = module.exports;
  ${preload}
`;

interface PageSide {
  /** The source of the preload script; empty: none. */
  preload: string;
  /** Whether `window.open` opens anything. */
  opens: boolean;
  /** Unknown to pages. */
  secret: string;
}

/** The scripts of both worlds, the page's own first. */
export const pageSide = ({ preload, opens, secret }: PageSide): { page: string; isolated: string } => ({
  page: `(() => {${pageSource(secret, opens)}})();`,
  isolated: `(() => {${preloadSource(secret, preload)}})();`,
});
