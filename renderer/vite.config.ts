import { defineConfig } from 'vite';

const page = (path: string): string => new URL(path, import.meta.url).pathname;

export default defineConfig({
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
