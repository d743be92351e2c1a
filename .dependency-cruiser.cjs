/** The layers of the house. */
const swc = require('@swc/core');

// Its swc parser is not told that a `.tsx` has elements in it, and there is no option for it.
const { parseFileSync } = swc;
swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') });

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-circles-of-modules', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
    {
      name: 'the-service-stands-alone',
      severity: 'error',
      comment: 'It runs on plain Node, so it knows neither Electron nor the pages.',
      from: { path: '^service/' },
      to: { path: '^(main|renderer)/|(^|/)electron(-updater)?(/|$)' },
    },
    {
      name: 'pages-know-only-the-vocabulary',
      severity: 'error',
      comment: 'The contract and the pure rules: pages follow a clock and judge an address as boxes do.',
      from: { path: '^renderer/' },
      to: { path: '^(main|service)/', pathNot: '^service/(contract|domain)/' },
    },
    {
      name: 'one-seam-to-the-service',
      severity: 'error',
      comment: 'But for what the clocks of a site show, which is pure: displays go by it as slides do.',
      from: { path: '^main/', pathNot: '^main/service-host\\.ts$' },
      to: { path: '^service/', pathNot: '^service/domain/' },
    },
    {
      name: 'the-kiosk-has-no-pages-inside',
      severity: 'error',
      from: { path: '^main/' },
      to: { path: '^renderer/' },
    },
    {
      name: 'the-command-line-is-a-client',
      severity: 'error',
      comment: 'It knows the interface, the pure rules and how requests are signed: it starts at once, on any machine.',
      from: { path: '^service/cli/' },
      to: { path: '^service/', pathNot: '^service/(cli|contract|domain)/|^service/auth/sign\\.ts$' },
    },
    {
      name: 'nothing-is-built-on-the-command-line',
      severity: 'error',
      from: { pathNot: '^service/cli/' },
      to: { path: '^service/cli/' },
    },
    {
      name: 'tests-are-not-shipped',
      severity: 'error',
      from: { path: '^(main|service|renderer)/' },
      to: { path: '^test/' },
    },
    {
      name: 'production-needs-no-development-dependency',
      severity: 'error',
      from: { path: '^(main|service)/' },
      to: { dependencyTypes: ['npm-dev'], pathNot: '(^|/)(electron|@types)(/|$)' },
    },
  ],
  options: {
    // Its TypeScript parser reads no module with TypeScript 7, and reports no violation.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json', '.css'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
