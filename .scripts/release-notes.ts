/** Prints the notes of a release as Markdown: the commits since the version before, by type. `release-notes.ts v1.2.3` */
import { execFileSync } from 'node:child_process';
import { notesOf } from './changelog.ts';

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();

const [tag = 'HEAD'] = process.argv.slice(2);
// A release is compared with the previous release, a prerelease with the previous version of either kind.
const isPrerelease = /-/.test(tag);
const older = git('tag', '--merged', `${tag}~1`, '--sort=-version:refname', 'v*')
  .split('\n')
  .find((name) => name !== '' && (isPrerelease || !name.includes('-')));
const commits = git('log', '--no-merges', '--format=%s', older === undefined ? tag : `${older}..${tag}`).split('\n');
console.log(notesOf(commits));
