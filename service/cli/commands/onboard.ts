/** `onboard`: binds a device to a screen. */
import { Argument, type Command } from 'commander';
import type { OnboardingResult } from '../../contract/onboarding.ts';
import { deviceId, playerName, slug } from '../arguments.ts';
import type { Session } from '../session.ts';
import { visible } from '../text.ts';

export const registerOnboard = (program: Command, { out, client }: Session): void => {
  program
    .command('onboard')
    .description('bind a device to a screen')
    .addArgument(new Argument('<device>', 'id that the device shows').argParser(deviceId))
    .addArgument(new Argument('<slug>', 'the screen to show').argParser(slug))
    .requiredOption('--name <name>', 'name of the player, for people', playerName)
    .action(async (device: string, screenSlug: string, { name: clientName }: { name: string }) => {
      const box = await client();
      const body = JSON.stringify({ deviceId: device, clientName, screenSlug });
      const answer = await box.ask<OnboardingResult>({ method: 'POST', path: '/api/onboarding', body });
      out.answer(answer.body, (result) => {
        out.line(visible(result.playerUrl));
        out.say(
          result.queued
            ? `${result.clientName} shows ${result.screenName} as soon as the device is there.`
            : `${result.clientName} shows ${result.screenName} now.`,
        );
      });
    });
};
