/** A disk that is full, a clock at 1970, and sleep. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { patience, playing } from '../machine.ts';

it('starts and plays from a disk that is full, and says so', async () => {
  const machine = await playing();
  onTestFinished(async () => {
    await machine.inside('rm -f /var/filler');
  });
  await machine.inside(
    'dd if=/dev/zero of=/var/filler bs=1M 2>/dev/null; sync; systemctl restart signage-player --no-block',
  );
  await expect.poll(async () => (await machine.health()).uptime ?? 1e9, patience).toBeLessThan(120);
  await machine.plays();
  const headers = { 'Content-Type': 'image/png' };
  const { status, body } = await machine.request('/api/media/full.png', {
    method: 'PUT',
    headers,
    body: Buffer.alloc(2 ** 20),
  });
  expect([status, body]).toEqual([expect.toBeOneOf([400, 413, 415, 507]), expect.stringContaining('error')]);
});

it('starts and plays where its clock stands in 1970, whatever the opening hours say', async () => {
  const machine = await playing();
  const file = '/var/lib/signage-player/content.json';
  const open = await machine.inside(`cat ${file}`);
  const content = JSON.parse(open);
  const hours = ['1970-01-01', '1970-01-02', '1970-01-03'].map((date) => ({ date }));
  const screens = content.screens.map((screen: object) => ({ ...screen, hours }));
  await machine.inside(`cat > ${file}`, JSON.stringify({ ...content, screens }));
  // The kernel refuses a time that is less than its uptime.
  await machine.inside('timedatectl set-ntp false && date -s @100000 && systemctl restart signage-player --no-block');
  await expect.poll(async () => (await machine.health()).startedAt ?? '', patience).toMatch(/^1970/);
  await machine.plays('1970');
  expect((await machine.health()).kiosk).toMatchObject({ displays: { on: true }, lastRecovery: null });
  await machine.inside(`cat > ${file}`, open);
  await machine.inside(`date -s @${Math.round(Date.now() / 1000)}`);
});

it('plays on after sleep', async () => {
  const machine = await playing();
  // As programs see it: the monotonic clock stops, and the wall clock jumps. Under QEMU a machine that suspended did not resume.
  await machine.qmp('stop');
  await wait(45_000);
  await machine.qmp('cont');
  await machine.inside('hwclock --hctosys --utc');
  expect(Math.abs(Number(await machine.inside('date +%s')) - Date.now() / 1000)).toBeLessThan(30);
  await machine.plays('resumed');
});
