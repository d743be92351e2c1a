/** From power-on to the QR code, then to the first slide; what is seen before is the firmware's, or nothing. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { phasesIn } from '../../install/phases.ts';
import { bind, codeOn, OWN, type Picture, patience, theMachine } from '../machine.ts';

/** Of the logo of OVMF. */
const LOGO = '#bec3d0';
const colourOf = ({ colours }: Picture): string => colours[0]?.[0] ?? '';

/** QEMU's own text, in the middle, while the display gets no signal. */
const isWithoutSignal = ({ colours, width, height, data }: Picture): boolean => {
  if (colours.map(([colour]) => colour).join() !== '#000000,#aaaaaa') return false;
  const middle = (height / 2 - 20) * width * 4;
  return !data.subarray(0, middle).includes(0xaa) && !data.subarray(data.length - middle).includes(0xaa);
};

it('shows nothing between the firmware and its first picture, which is the code for a phone, and then a slide', async () => {
  const machine = await theMachine();
  const film: Picture[] = [];
  const phases: Record<string, number> = {};
  while (film.length === 0 || codeOn(film.at(-1) as Picture) === undefined) {
    expect(machine.seconds(), 'time to the code').toBeLessThan(patience.timeout / 1000);
    const picture = await machine.picture('boot');
    film.push(picture);
    if (colourOf(picture) === OWN) phases['window'] ??= picture.at;
    await wait(1_000);
  }
  phases['code'] = film.at(-1)?.at ?? 0;
  // The firmware's logo stays until the kernel has the display.
  const isLogo = ({ colours }: Picture): boolean => colours.some(([colour]) => colour === LOGO);
  const isOurs = (picture: Picture): boolean =>
    (picture.colours.length === 1 && colourOf(picture) === '#000000') ||
    isWithoutSignal(picture) ||
    !['#000000', '#ffffff'].includes(colourOf(picture));
  const after = film.slice(film.findLastIndex(isLogo) + 1);
  expect(after.length).toBeLessThan(film.length);
  expect(
    after.filter((picture) => !isOurs(picture)).map(({ at }) => at),
    'text, a cursor or white was seen',
  ).toEqual([]);

  const health = await machine.health();
  expect(health.kiosk).toMatchObject({ compositor: { renderer: expect.stringMatching(/gpu|pixman/) } });
  const deviceId = new URL(codeOn(film.at(-1) as Picture) ?? '').searchParams.get('deviceId') ?? '';
  expect(await bind(machine, deviceId)).toBe(true);
  await machine.plays();
  phases['slide'] = Math.round(machine.seconds());
  const journal = await machine.inside('journalctl -b -u signage-player -o short-monotonic');
  console.log('of the session:', JSON.stringify(phasesIn(journal)));
  console.log(JSON.stringify(phases), await machine.inside('systemd-analyze; cat /proc/cmdline'));
});
