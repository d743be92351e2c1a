/** The order matters: most user agents contain the names of other browsers too. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/Electron\//, 'Kiosk'],
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/HeadlessChrome\//, 'Headless Chrome'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Web0S|webOS/, 'webOS'],
  [/Tizen/, 'Tizen'],
  [/Linux|X11/, 'Linux'],
];

const find = (names: typeof browsers, userAgent: string): string | undefined =>
  names.find(([pattern]) => pattern.test(userAgent))?.[1];

/** A short readable label for a connection without a name: `Chrome on Windows 3f9a`. */
export const readableLabel = (userAgent: string | null, id: string): string => {
  const browser = find(browsers, userAgent ?? '') ?? 'Player';
  const system = find(systems, userAgent ?? '');
  return [browser, ...(system === undefined ? [] : ['on', system]), id.slice(0, 4)].join(' ');
};
