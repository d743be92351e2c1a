/** Reads the signed metadata of electron-builder from a release folder. */
import type { KeyObject } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import type { AppUpdater } from 'electron-updater';
import generic from 'electron-updater/out/providers/GenericProvider.js';
import type { ProviderRuntimeOptions } from 'electron-updater/out/providers/Provider.js';
import { isSigned } from './signature.ts';

/** Signed metadata, as other boxes download them from this box. */
export interface Metadata {
  /** For example `latest-linux.yml`. */
  fileName: string;
  text: string;
  /** Base64. */
  signature: string;
}

/**
 * A release folder as a provider of electron-updater. Each metadata file has a detached signature, `NAME.sig`. The metadata
 * contain the hash of the installer, so only signed installers are run.
 * @param onMetadata called with the metadata that were verified
 */
export const signedFeed = (url: string, key: KeyObject, onMetadata: (metadata: Metadata) => void) => {
  class SignedProvider extends generic.GenericProvider {
    constructor(_options: unknown, updater: AppUpdater, runtime: ProviderRuntimeOptions) {
      super({ provider: 'generic', url }, updater, { ...runtime, isUseMultipleRangeRequest: false });
    }

    protected override async httpRequest(from: URL, headers?: OutgoingHttpHeaders | null): Promise<string | null> {
      const signatureUrl = new URL(from);
      signatureUrl.pathname += '.sig';
      const text = (await super.httpRequest(from, headers)) ?? '';
      const signature = ((await super.httpRequest(signatureUrl, headers)) ?? '').trim();
      if (!isSigned(text, signature, key)) {
        throw new Error(`${from.href} is not signed with the key of this build; nothing is installed from there`);
      }
      onMetadata({ fileName: from.pathname.slice(from.pathname.lastIndexOf('/') + 1), text, signature });
      return text;
    }
  }
  return { provider: 'custom' as const, updateProvider: SignedProvider };
};
