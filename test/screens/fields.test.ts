/** What a command request must say, and what it may not. */
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';

const named = { command: 'setclientname', clientName: 'Door', deviceId: 'device-1' };

const service = shareTestService({ content: lobby });

test.each<[string, object, string, string]>([
  ['no command', {}, 'missing_field', 'command'],
  ['a command that is null', { command: null }, 'missing_field', 'command'],
  ['a command that is a number', { command: 1 }, 'invalid_field', 'command'],
  ['a list of commands', { command: ['next'] }, 'invalid_field', 'command'],
  ['a blackout in words', { command: 'blackout', blackout: 'yes' }, 'invalid_field', 'blackout'],
  ['a blackout as a text', { command: 'blackout', blackout: 'true' }, 'invalid_field', 'blackout'],
  ['a blackout as a number', { command: 'blackout', blackout: 1 }, 'invalid_field', 'blackout'],
  ['no clientName', { ...named, clientName: undefined }, 'missing_field', 'clientName'],
  ['an empty clientName', { ...named, clientName: '' }, 'invalid_field', 'clientName'],
  ['a blank clientName', { ...named, clientName: '   ' }, 'invalid_field', 'clientName'],
  ['a clientName of 65 characters', { ...named, clientName: 'x'.repeat(65) }, 'invalid_field', 'clientName'],
  ['a clientName with a line end', { ...named, clientName: 'a\nb' }, 'invalid_field', 'clientName'],
  ['a clientName with an unpaired surrogate', { ...named, clientName: 'a\ud800' }, 'invalid_field', 'clientName'],
  ['a clientName that is a number', { ...named, clientName: 7 }, 'invalid_field', 'clientName'],
  ['no deviceId', { ...named, deviceId: null }, 'missing_field', 'deviceId'],
  ['an empty deviceId', { ...named, deviceId: '' }, 'invalid_field', 'deviceId'],
  ['a deviceId with a space', { ...named, deviceId: 'device 1' }, 'invalid_field', 'deviceId'],
  ['a deviceId of 129 characters', { ...named, deviceId: 'x'.repeat(129) }, 'invalid_field', 'deviceId'],
  ['a connectionId that is a number', { command: 'next', connectionId: 1 }, 'invalid_field', 'connectionId'],
  ['an empty connectionId', { command: 'next', connectionId: '' }, 'invalid_field', 'connectionId'],
  ['a clientId that is a list', { command: 'next', clientId: [] }, 'invalid_field', 'clientId'],
  ['an empty clientId', { command: 'next', clientId: '' }, 'invalid_field', 'clientId'],
])('%s', async (_, body, code, field) => {
  const page = await joinScreen(service(), 'lobby', { deviceId: 'device-1' });
  const response = await service().post('/api/screens/lobby/commands', body);
  const { error } = await response.json();
  expect([response.status, error.code, error.field]).toEqual([400, code, field]);
  expect(error.message).toMatch(/\.$/);
  expect(page.messages).toHaveLength(1);
});

test.each<[string, object]>([
  ['targets that are null', { command: 'next', connectionId: null, clientId: null }],
  ['a blackout that is null', { command: 'blackout', blackout: null }],
  ['a blackout beside another command', { command: 'next', blackout: 'yes' }],
  ['a clientName of 64 characters', { ...named, clientName: 'x'.repeat(64) }],
  ['a clientName beyond the first plane', { ...named, clientName: 'Tür 🚪' }],
  ['a deviceId of every allowed kind of character', { ...named, deviceId: 'Az09._:-' }],
])('%s: nothing wrong', async (_, body) => {
  expect((await service().post('/api/screens/lobby/commands', body)).status).toBe(200);
});
