import { makeFolder } from '../store/folder.ts';
import { type Options, refusal } from './index.ts';

/** Makes the folders that the settings name. @throws OptionsError */
export const makeFolders = async (options: Options): Promise<void> => {
  for (const name of ['dataDir', 'uploadDir', 'mediaDir'] as const) {
    await makeFolder(options[name]).catch((error: NodeJS.ErrnoException) => {
      throw refusal(name, options[name], `a folder that exists or can be created (${error.code})`);
    });
  }
};
