/** The older release that the package is for, from power-on to the code. */
import { it } from 'vitest';
import { createMachine, switchOff } from '../machine.ts';

it('on Debian 12 a phone reads the code off the display after power-on', async () => {
  await switchOff();
  const machine = await createMachine('bookworm', 'bookworm');
  await machine.powerOn();
  await machine.showsCode();
  await machine.cutPower();
});
