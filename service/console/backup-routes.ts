/** Backup and restore over HTTP. */
import { confirmHeaders, type Restored } from '../contract/console/backup.ts';
import { confirmHeader, tarType } from '../contract/console/backup-names.ts';
import { CodedError, tooManyRequests } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { judgeAgain } from '../http/body.ts';
import { operatorOf, personOf } from '../http/operator.ts';
import type { Context, Routes } from '../http/routes.ts';
import { afterAnswer, createTransferSlots, endIfUnread } from '../http/transfers.ts';
import type { ServiceContext } from '../module.ts';
import { type BackupDependencies, createBackup } from './backup.ts';
import { createRestore, type RestoreDependencies } from './restore.ts';

/** Backups that are written at the same time. */
const concurrent = { own: 1, total: 2 };

export const backupRoutes = (
  context: ServiceContext,
  dependencies: BackupDependencies & RestoreDependencies,
): { routes: Routes; resume(): Promise<void> } => {
  const { options, tempo, machineName, restart, now } = context;
  const backup = createBackup(context, dependencies);
  const { restore, resume } = createRestore(context, dependencies);
  const slots = createTransferSlots(concurrent);

  /** @throws CodedError `local_required` */
  const checkLocal = ({ state }: Context): void => {
    if (options.sharedSecret === null && !state.isLocal) throw new CodedError('local_required');
  };

  const routes: Routes = {
    'GET /console/api/backup': async (ctx) => {
      checkLocal(ctx);
      const release = slots.take(ctx.state.clientIp);
      if (release === null) {
        throw tooManyRequests(10, 'Another backup is being written; try again once it is done.');
      }
      ctx.res.once('close', release);
      const date = new Date(now()).toISOString().slice(0, 10);
      ctx.attachment(`${machineName}-${date}.tar`);
      ctx.type = tarType;
      ctx.body = await backup.write();
      endIfUnread(ctx.res, tempo.http.still);
    },

    'POST /console/api/restore': async (ctx) => {
      checkLocal(ctx);
      if (ctx.is(tarType) === false || ctx.get('Content-Type') === '') {
        ctx.req.resume();
        throw new CodedError('unsupported_media_type', `The body must be ${tarType}.`);
      }
      try {
        dependencies.requireKnown();
        readFields(confirmHeaders, { [confirmHeader]: ctx.get(confirmHeader) || undefined });
        const done = await restore(
          {
            stream: ctx.req,
            length: ctx.request.length ?? null,
            bodySha256: ctx.state.bodySha256,
            judgeAgain: () => judgeAgain(ctx),
          },
          { operator: operatorOf(ctx), person: personOf(ctx) },
        );
        const isRestarted = done.settings.length > 0 && restart !== undefined;
        if (isRestarted) afterAnswer(ctx.res, restart);
        const answer: Restored = { ...done, restart_required: done.settings.length > 0 && !isRestarted };
        ctx.body = answer;
      } catch (error) {
        // Closing the socket while the client sends would lose the answer.
        ctx.req.resume();
        throw error;
      }
    },
  };
  return { routes, resume };
};
