/** The environment of the process: read once, stripped of secrets, and checked for misspelt settings. */
import { nearestOf } from '../../domain/nearest.ts';
import { environmentName, secretNames, settingNames } from './settings.ts';

export type Environment = Record<string, string | undefined>;

/**
 * A copy of the process's environment, from which the options can be read repeatedly. Afterwards only the copy has the
 * secrets.
 */
export const takeEnvironment = (platform = process.platform): Environment => {
  // On Windows names are case-insensitive (`Path`), but not in a copy.
  const entries = Object.entries(process.env);
  const environment = Object.fromEntries(
    platform === 'win32' ? entries.map(([name, value]) => [name.toUpperCase(), value]) : entries,
  );
  for (const name of secretNames) delete process.env[environmentName(name)];
  return environment;
};

/** Runs `act` with the secrets restored to the environment, for a process that replaces this one. */
export const lendSecrets = (environment: Environment, act: () => void): void => {
  const names = secretNames.map(environmentName).filter((name) => environment[name] !== undefined);
  for (const name of names) process.env[name] = environment[name];
  try {
    act();
  } finally {
    for (const name of names) delete process.env[name];
  }
};

/** Variables of the command line. */
const foreignVariables: readonly string[] = ['SIGNAGE_BOX', 'SIGNAGE_OPERATOR'];

/** Warnings of variables that look like settings but are not. Their values may be secrets, and are not shown. */
export const variableWarnings = (names: readonly string[]): string[] => {
  const known = settingNames.map(environmentName);
  const suffixOf = (name: string): string => name.slice('SIGNAGE_'.length);
  return names
    .filter((name) => name.startsWith('SIGNAGE_') && !known.includes(name) && !foreignVariables.includes(name))
    .map((name) => {
      const nearest = nearestOf(suffixOf(name), known.map(suffixOf));
      return `${name} is not a setting and is ignored${nearest === undefined ? '' : `; did you mean SIGNAGE_${nearest}?`}`;
    });
};
