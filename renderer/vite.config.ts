import { defineConfig, type Plugin } from 'vite';

const page = (path: string): string => new URL(path, import.meta.url).pathname;

/** Pages know when they were built: it is later than that, whatever a clock says. */
const built: Plugin = {
  name: 'built',
  transformIndexHtml: () => [
    { tag: 'meta', attrs: { name: 'built', content: new Date().toISOString() }, injectTo: 'head' },
  ],
};

export default defineConfig({
  plugins: [built],
  root: page('.'),
  logLevel: 'warn',
  build: {
    outDir: page('../dist/renderer'),
    emptyOutDir: true,
    // Electron and the browsers of the last four years.
    target: 'es2022',
    modulePreload: false,
    // hls.js is large, and loaded only by a page that shows a stream.
    chunkSizeWarningLimit: 700,
    rollupOptions: {
      input: {
        player: page('player/index.html'),
        landing: page('onboarding/landing.html'),
        form: page('onboarding/form.html'),
      },
    },
  },
});
