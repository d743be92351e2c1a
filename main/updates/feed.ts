/** What is read from a release folder: electron-builder's metadata, and nothing unless it is signed. */
import type { KeyObject } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import type { AppUpdater } from 'electron-updater';
import generic from 'electron-updater/out/providers/GenericProvider.js';
import type { ProviderRuntimeOptions } from 'electron-updater/out/providers/Provider.js';
import { isSigned } from './signature.ts';

/** Metadata as they were signed, for whoever asks this box for them. */
export interface Metadata {
  /** `latest-linux.yml` and its like. */
  fileName: string;
  text: string;
  /** Base64. */
  signature: string;
}

/**
 * The address of a release folder as electron-updater takes it. Beside each metadata file there is its signature,
 * `NAME.sig`: the metadata hold the hash of the installer, so nothing that is not signed is ever run.
 *
 * @param onMetadata is told of what was read and verified
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
        throw new Error(`${from.href} is not signed with the key of this build; nothing from there is installed`);
      }
      onMetadata({ fileName: from.pathname.slice(from.pathname.lastIndexOf('/') + 1), text, signature });
      return text;
    }
  }
  return { provider: 'custom' as const, updateProvider: SignedProvider };
};
