/** A missing disk restarts the machine, a missing file system of fstab is skipped: the player starts without a keyboard. */
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

it('a start that does not find its disk is followed by a new one, which plays', async () => {
  const machine = await playing();
  const add = 'cat >/etc/grub.d/42_lost && chmod +x /etc/grub.d/42_lost && update-grub && grub-reboot lost && sync';
  await machine.inside(add, lost);
  expect(await machine.inside('grub-editenv - list')).toContain('next_entry=lost');
  await machine.cutPower();
  await machine.powerOn();
  await machine.plays('lost');
  expect(await machine.inside('grub-editenv - list')).not.toContain('next_entry=lost');
  console.log(`playing ${Math.round(machine.seconds())} s after power-on, in the second start`);
  await machine.inside('rm /etc/grub.d/42_lost && update-grub && sync');
});

it('a file system of fstab that is not there keeps neither the player nor SSH from starting', async () => {
  const machine = await playing();
  await machine.inside('cp /etc/fstab /root && echo "UUID=DEAD-BEEF /media vfat defaults 0 1" >>/etc/fstab && sync');
  await machine.cutPower();
  await machine.powerOn();
  await machine.plays('without-media');
  const states = await machine.inside('systemctl is-active local-fs.target emergency.target || true');
  expect(states).toBe('inactive\ninactive\n');
  await machine.inside('mv /root/fstab /etc/fstab && sync');
});
