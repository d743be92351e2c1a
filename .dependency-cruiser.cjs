/** The layers of the house. */
module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
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
      comment: 'And how to follow a clock: pages do it as boxes do, and the file knows nothing else.',
      from: { path: '^renderer/' },
      to: { path: '^(main|service)/', pathNot: '^service/(wire/|sync/estimate\\.ts$)' },
    },
    {
      name: 'one-seam-to-the-service',
      severity: 'error',
      comment: 'But for what the clocks of a site show, which is pure: displays go by it as slides do.',
      from: { path: '^main/', pathNot: '^main/service-host\\.ts$' },
      to: { path: '^service/', pathNot: '^service/wire/(wall-time|opening-hours)\\.ts$' },
    },
    {
      name: 'the-kiosk-has-no-pages-inside',
      severity: 'error',
      from: { path: '^main/' },
      to: { path: '^renderer/' },
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
      extensions: ['.ts', '.js', '.json', '.css'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
