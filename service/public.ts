/** What a host of the service may use: the kiosk (`main/`) and the program for plain Node (`headless.ts`). */

export { identifySeconds } from './contract/console/action-names.ts';
export type { ActionAnswer, BoxOrder } from './contract/console/actions.ts';
export { mostLogLines, mostScreenshotPixels } from './contract/console/site.ts';
export type { KioskHealth } from './contract/health.ts';
export {
  type ExternalAnswer,
  externalCall as externalCallSchema,
  type Heartbeat,
  type Hours,
  heartbeat as heartbeatSchema,
  type KioskBridge,
  type MaintenanceAnswer,
  type MaintenanceCall,
  type MaintenanceOrder,
  type MaintenanceRefusal,
  type MaintenanceShown,
  type MaintenanceView,
  maintenanceCall,
  type PageCover,
  type PageLook,
  pageCover,
  proofNeeds,
  type ViewArea,
} from './contract/kiosk.ts';
export type { HotspotShown, NetworkFault } from './contract/onboarding.ts';
export { canonicalDeviceId } from './contract/readable.ts';
export { parseUrl } from './contract/url.ts';
export { type Ports, type Service, startService } from './index.ts';
export type { Operate } from './module.ts';
export { readBuiltAt } from './platform/built-at.ts';
export { type ScriptJob, type ScriptOutput, watchMemory } from './platform/confined.ts';
export { createLog, createLogRing } from './platform/log.ts';
export { importConfig } from './platform/options/import.ts';
export {
  changeConfig,
  EXIT_CONFIG,
  keepSecret,
  lendSecrets,
  type Options,
  OptionsError,
  pathSettingIn,
  readConfig,
  readKiosk,
  readOptions,
  secretIn,
  takeEnvironment,
  withoutSecret,
} from './platform/options/index.ts';
export type { KioskSettings } from './platform/options/kiosk.ts';
export { createQueue } from './platform/queue.ts';
export { systemDisk } from './platform/store/disk.ts';
export { createDurable, type Durable } from './platform/store/durable.ts';
export { previousOf, syncFile } from './platform/store/file.ts';
export { FolderTaken, runningAt } from './platform/store/lock.ts';
export { reserveFile, writeWithReserve } from './platform/store/reserve.ts';
export { sweepRewrites, writePrivate, writeTwice } from './platform/store/rewrite.ts';
export { openSealKey, sealedWith } from './platform/store/sealing.ts';
export { EXIT_RESTART, isSupervised } from './platform/supervisor.ts';
export type { PageHeaders } from './secrets/index.ts';
