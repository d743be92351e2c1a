const swc = require('@swc/core');

// dependency-cruiser does not enable JSX in its swc parser, and has no option for it.
const { parseFileSync } = swc;
swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') });

/** The folders of the service, lowest first. Libraries are entered by their files, a module by its index.ts alone. */
const libraries = ['contract', 'domain', 'platform', 'auth', 'http'];
const modules = [
  'feeds',
  'takeovers',
  'drafts',
  'shared',
  'authority',
  'people',
  'triggers',
  'secrets',
  'content',
  'media',
  'streams',
  'peers',
  'clock',
  'screens',
  'devices',
  'pages',
  'updates',
  'records',
  'console',
  'fleet',
  'https',
  'mqtt',
  'health',
];
const layers = [...libraries, ...modules];

/** A folder imports no folder above it. */
const order = layers.slice(0, -1).map((layer, index) => ({
  name: `${layer}-is-below`,
  severity: 'error',
  from: { path: `^service/${layer}/` },
  to: { path: `^service/(${layers.slice(index + 1).join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...order,
    {
      name: 'one-door-per-module',
      severity: 'error',
      from: { path: '^(?:service/([^/]+)/|service/|main/|renderer/)' },
      comment: 'The rules of a document are for the command line too.',
      to: {
        path: `^service/(${modules.join('|')})/`,
        pathNot: ['^service/$1/', '^service/[^/]+/index\\.ts$', '^service/content/validate\\.ts$'],
      },
    },
    {
      name: 'modules-do-not-import-the-composition-root',
      severity: 'error',
      comment: 'A folder of the service receives what it needs, as service/module.ts describes.',
      from: { path: '^service/[^/]+/' },
      to: { path: '^service/[^/]+\\.ts$', pathNot: '^service/(module|tempo)\\.ts$' },
    },
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-circles-of-modules', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
    {
      name: 'the-service-stands-alone',
      severity: 'error',
      comment: 'It runs on plain Node, so it imports neither Electron nor the pages.',
      from: { path: '^service/' },
      to: { path: '^(main|renderer)/|(^|/)electron(-updater)?(/|$)' },
    },
    {
      name: 'pages-know-only-the-vocabulary',
      severity: 'error',
      comment: 'Pages share the contract and the pure rules with the service.',
      from: { path: '^renderer/' },
      to: { path: '^(main|service)/', pathNot: '^service/(contract|domain)/' },
    },
    {
      name: 'one-seam-to-the-service',
      severity: 'error',
      comment: 'Hosts import service/public.ts and the pure rules only.',
      from: { path: '^(main/|service/headless\\.ts)' },
      to: { path: '^service/', pathNot: '^service/(domain/|public\\.ts$)' },
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
      comment:
        'It imports the contract, the pure rules (those of a document too), request signing and the NATS connection only, so that it starts fast on any machine.',
      from: { path: '^service/cli/' },
      to: {
        path: '^service/',
        pathNot:
          '^service/(cli|contract|domain)/|^service/auth/sign\\.ts$|^service/platform/nats\\.ts$|^service/content/validate\\.ts$',
      },
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
