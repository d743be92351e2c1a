/** A start that fails before there is a system is tried again: nobody is there, and nobody is given a shell. */
import { expect, it } from 'vitest';
import { playing } from '../machine.ts';

/** Of `grub.d`: the system as it is, on a disk that is not there. */
const lost = `#!/bin/sh
cat <<END
menuentry lost --id lost --unrestricted {
  search --file --set=root /vmlinuz
  linux /vmlinuz root=/dev/lost ro $GRUB_CMDLINE_LINUX_DEFAULT
  initrd /initrd.img
}
END
`;

it('a start that does not find its disk is followed by another one, which plays', async () => {
  const machine = await playing();
  const add = 'cat >/etc/grub.d/42_lost && chmod +x /etc/grub.d/42_lost && update-grub && grub-reboot lost && sync';
  await machine.inside(add, lost);
  expect(await machine.inside('grub-editenv - list')).toContain('next_entry=lost');
  await machine.cutPower();
  await machine.powerOn();
  await machine.plays('lost');
  expect(await machine.inside('grub-editenv - list')).not.toContain('next_entry=lost');
  console.log(`playing after ${Math.round(machine.seconds())} s, of which a disk was looked for in vain`);
  await machine.inside('rm /etc/grub.d/42_lost && update-grub && sync');
});
