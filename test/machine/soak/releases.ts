/** Each release of Debian that the package is for, from power-on to the code. */
import { it } from 'vitest';
import { createMachine } from '../machine.ts';

it.each(['bookworm', 'trixie'] as const)(
  'on %s a phone reads the code off the display after power-on',
  async (release) => {
    const machine = await createMachine(release, `code-${release}`);
    await machine.powerOn();
    await machine.showsCode();
    await machine.cutPower();
  },
);
