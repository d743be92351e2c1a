/** The `kiosk` section of config.json. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOptions } from '../../../service/platform/options/index.ts';
import { temporaryFolder } from '../../support/service.ts';

const read = (kiosk: unknown) => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ kiosk }));
  return readOptions({ env: { SIGNAGE_DATA_DIR: dataDir } });
};

test('says which displays show what', () => {
  const displays = [
    { display: 'DELL U2720Q', screen: 'lobby', rotation: 90 },
    { display: 2, deviceId: 'front-door' },
  ];
  const { kiosk, warnings } = read({ displays, pin: '2468' });
  expect(kiosk).toMatchObject({ displays, rotation: 0, pin: '2468' });
  expect(warnings).toEqual([]);
});

test('goes on without a setting that it does not know, and says so', () => {
  const { kiosk, warnings } = read({ displays: 'primary', holograms: true });
  expect(kiosk).toMatchObject({ displays: 'primary', rotation: 0 });
  expect(warnings).toEqual(['config.json: kiosk.holograms is not a setting and is ignored']);
});

test.each([
  [[], 'config.json: kiosk is not valid; expected an object'],
  [{ rotation: 45 }, 'config.json: kiosk.rotation is not valid; expected 0, 90, 180 or 270'],
  [{ pin: '12' }, 'config.json: kiosk.pin is not valid; expected 4 to 12 digits in quotes'],
  [{ pin: 1234 }, 'config.json: kiosk.pin is not valid; expected 4 to 12 digits in quotes'],
  [{ displays: 'some' }, 'config.json: kiosk.displays is not valid; expected all, primary, or a list of displays'],
])('%j is refused by name, without its value', (kiosk, message) => {
  expect(() => read(kiosk)).toThrow(expect.objectContaining({ message, setting: 'kiosk' }));
});
