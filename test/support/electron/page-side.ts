/** What Electron puts into a page before the page's own scripts, as source: preload scripts, input, messages. */

const runtime = `
  const send = globalThis.__electron;
  delete globalThis.__electron;
  if (send === undefined || globalThis !== globalThis.top) return;
  const calls = new Map();
  let lastCall = 0;
  const say = (message) => send(JSON.stringify(message));
  Object.defineProperty(globalThis, '__electronHears', { value: ({ reply, error, result }) => {
    if (error === undefined) calls.get(reply)?.resolve(result);
    else calls.get(reply)?.reject(new Error(error));
  } });
  const electron = {
    contextBridge: { exposeInMainWorld: (name, api) => Object.defineProperty(globalThis, name, { value: api }) },
    ipcRenderer: {
      send: (channel, ...args) => say({ channel, args }),
      invoke: (channel, ...args) => new Promise((resolve, reject) => {
        lastCall += 1;
        calls.set(lastCall, { resolve, reject });
        say({ channel, args, call: lastCall });
      }),
    },
  };
  for (const [event, type] of [['keydown', 'keyDown'], ['keyup', 'keyUp']]) addEventListener(event, (e) => say({
    input: { type, key: e.key, code: e.code, control: e.ctrlKey, alt: e.altKey, shift: e.shiftKey, meta: e.metaKey },
  }), true);
`;

/** The name of the binding by which a page talks to the double. */
export const binding = '__electron';

/**
 * @param preload source of the preload script; empty: none
 * @param opens whether `window.open` opens anything
 */
export const pageSide = (preload: string, opens: boolean): string => `(() => {
  ${opens ? '' : 'globalThis.open = () => null;'}
  ${runtime}
  const require = () => electron;
  const module = { exports: {} };
  const exports = module.exports;
  ${preload}
})();`;
