/** What an administrator of Windows copies from the page into a console, against the script. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '..', '..', 'resources', 'windows');
const [page, script] = ['assigned-access.md', 'kiosk-shell.ps1'].map((name) =>
  readFileSync(join(folder, name), 'utf8'),
) as [string, string];

test('the page opens the firewall by the same commands as the script, which takes that back', () => {
  const rules = script.split('\n').filter((line) => /NetFirewall/.test(line));
  expect(rules).toHaveLength(2);
  for (const rule of rules) expect(page).toContain(rule.trim().replace(' | Out-Null', ''));
  expect(script.indexOf('Remove-NetFirewallRule')).toBeLessThan(script.indexOf('if ($Remove) {'));
  expect(script.indexOf('New-NetFirewallRule')).toBeGreaterThan(script.indexOf('if ($Remove) {'));
});

test('each command of the script in the page runs where Windows allows no scripts, from each version of PowerShell', () => {
  const commands = page.split('\n').filter((line) => line.includes('.ps1'));
  expect(commands.map((line) => line.trim())).toEqual([
    'powershell -ExecutionPolicy Bypass -File .\\kiosk-shell.ps1 -User signage',
  ]);
  expect(page).toContain('start the player once in');
  expect(script).toContain('start the player once there');
});

test('the script sets and takes back the keys and policies by the same lines, before it ends where it removes', () => {
  const common = script.slice(script.indexOf('param('), script.indexOf('if ($Remove) {'));
  expect(common).toContain("'DisableTaskMgr', 'DisableLockWorkstation', 'DisableChangePassword'");
  expect(common).toContain('/d ([int](-not $Remove))');
  expect(common).toContain("'Shift+Ctrl+Esc'");
  expect(common).toContain('$key.Enabled = -not $Remove');
});

test('the script gives the desktop back before anything that can fail, and leaves no registry loaded', () => {
  const before = script.slice(0, script.indexOf('RemoveCustomShell'));
  for (const later of ['Join-Path', 'throw', 'reg.exe']) expect(before).not.toContain(later);
  expect(before).toContain('if (-not $Remove -and (Get-WindowsOptionalFeature');
  const policies = script.indexOf('try {');
  const load = script.slice(script.indexOf('reg.exe load'), policies);
  expect(load).toContain('if ($LASTEXITCODE -ne 0) { throw');
  expect(script.slice(policies)).toMatch(
    /^try \{[^]*reg\.exe add [^]*\} finally \{\s+if \(\$isSignedOut\) \{ reg\.exe unload /,
  );
  expect(script.indexOf('$key.Put()')).toBeLessThan(script.indexOf('reg.exe load'));
});
